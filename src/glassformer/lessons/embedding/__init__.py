"""Chapter 1: from tokens to vectors."""
