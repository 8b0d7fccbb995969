"""Finding things: learned queries look at an image and say what is there and where."""
