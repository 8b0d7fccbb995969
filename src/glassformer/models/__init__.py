"""Figure 1, assembled from the boxes of `layers/`."""
