"""Chapter: keeping numbers in order."""
