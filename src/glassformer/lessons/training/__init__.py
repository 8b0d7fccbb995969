"""Chapter: how a model learns."""
