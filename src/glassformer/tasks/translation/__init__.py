"""Translation: a sentence in, its translation out; the whole of Figure 1."""
