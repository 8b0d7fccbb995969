"""Chapter: how well a model has learned."""
