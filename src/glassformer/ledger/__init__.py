"""The ledger: parameters, FLOPs and memory, counted exactly from the configuration alone."""
