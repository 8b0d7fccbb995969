"""Chapter: the road past every layer."""
