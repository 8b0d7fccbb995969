"""The boxes of Figure 1. Each takes plain numbers and can be built at a prompt."""
