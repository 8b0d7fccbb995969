"""Chapter 8: how a model learns."""
