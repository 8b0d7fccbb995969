"""Chapter: what is computed for each token by itself."""
