"""Masked language modelling: predict hidden words from the words around them."""
