"""Chapter 4: keeping numbers in order."""
