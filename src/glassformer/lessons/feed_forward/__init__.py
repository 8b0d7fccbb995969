"""Chapter 5: what every token thinks by itself."""
