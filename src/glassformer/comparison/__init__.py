"""Two models side by side, tap by tap: where they first differ, and by how much."""
