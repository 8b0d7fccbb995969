"""Chapter 2: where a token stands."""
