"""Chapter 9: what it learns from."""
