"""Chapter: who looks at whom."""
