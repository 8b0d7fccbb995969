"""Chapter: which token looks at which."""
