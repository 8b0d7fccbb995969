"""Recording and editing the tensors of a pass."""
