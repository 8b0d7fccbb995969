"""The mathematics, run in symbols: sizes that keep their names, tensors without numbers, one rule a function, steps."""
