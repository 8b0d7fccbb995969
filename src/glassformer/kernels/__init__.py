"""Kernels of our own for an accelerator, in Triton, which comes with torch there: one file each, beside its plain form.

Nobody has to know them: where there is no accelerator or no Triton, and wherever the mathematics is looked at, the
plain form runs. A test compares the two.
"""
