"""Look inside one pass."""
