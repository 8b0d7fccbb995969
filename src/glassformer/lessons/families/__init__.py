"""Chapter: families of models from the same boxes."""
