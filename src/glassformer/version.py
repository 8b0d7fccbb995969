"""The version, in one place; readable without installing the package."""

__version__ = "0.1.0"
