"""Exact accounts from the configuration alone."""
