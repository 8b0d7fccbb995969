"""A trained model at work: translating, and how well."""
