"""Chapter: where a token stands."""
