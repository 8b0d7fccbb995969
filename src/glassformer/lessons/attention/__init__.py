"""Chapter 3: who looks at whom."""
