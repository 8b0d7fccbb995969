"""Chapter: the position of a token."""
