"""Models of the world in our boxes: configurations and weights as Hugging Face stores them, read and written."""
