"""Chapter: how well it has learned."""
