"""Chapter 10: how well it has learned."""
