"""Published models in our boxes: configurations and weights as Hugging Face stores them, read and written."""
