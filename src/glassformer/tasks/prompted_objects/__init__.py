"""Prompts: somebody points at an image or says a word, and cross-attention finds what is meant."""
