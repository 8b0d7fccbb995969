"""The executable textbook: an experiment for every claim, a picture drawn from every measurement."""
