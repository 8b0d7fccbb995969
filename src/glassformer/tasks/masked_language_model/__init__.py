"""Masked language modelling: the words that were hidden, from all around them."""
