"""Chapter: one skeleton, many families."""
