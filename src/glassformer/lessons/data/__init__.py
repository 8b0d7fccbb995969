"""Chapter: from text to tokens."""
