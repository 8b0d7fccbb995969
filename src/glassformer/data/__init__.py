"""Data: the built-in Korean-English corpus, and whatever else a model is trained on."""
