"""Chapter: the connection around every sub-layer."""
