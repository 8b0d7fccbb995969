"""Measurements that anyone can repeat; their recorded results are the only source of the tables in the docs."""
