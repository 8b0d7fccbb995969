"""Chapter: the map of all boxes."""
