"""Chapter 11: one skeleton, many families."""
