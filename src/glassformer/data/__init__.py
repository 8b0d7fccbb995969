"""From examples to batches: sources of text, encoded examples, the order they are seen in, padding."""
