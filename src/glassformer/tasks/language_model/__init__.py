"""Language modelling: after each token the next one; chat and free text."""
