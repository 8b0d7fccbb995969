"""Chapter: from tokens to vectors."""
