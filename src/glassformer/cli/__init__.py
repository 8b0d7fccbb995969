"""The command line: one file per command; each parses, calls one library function, and shows."""
