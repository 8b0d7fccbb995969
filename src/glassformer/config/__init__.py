"""Configuration: the tables of a model and of a recipe, their schema, and the rules for single values."""
