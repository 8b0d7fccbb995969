"""A pass in symbols: sizes that keep their names, tensors without numbers, one rule per torch function, steps."""
