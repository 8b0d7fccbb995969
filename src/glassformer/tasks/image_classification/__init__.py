"""Image classification: an image in, one of a few labels out."""
