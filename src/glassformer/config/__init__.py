"""What a person configures: a model, a recipe, and what a single value must be."""
