"""Chapter 6: the road past every layer."""
