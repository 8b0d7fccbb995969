"""Chapter: what every token thinks by itself."""
