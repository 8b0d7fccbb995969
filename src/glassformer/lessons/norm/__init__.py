"""Chapter: normalisation."""
