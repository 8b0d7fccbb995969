"""The executable textbook: every claim an experiment, every picture drawn from what it measured."""
