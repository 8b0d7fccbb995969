"""Translation: a sentence in, the same in another language out; Figure 1 as a whole."""
