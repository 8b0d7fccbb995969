"""A run is a folder that any tool can read: the contract between training and everything that reads it."""

from glassformer.runs.folder import Run, is_run, locked
from glassformer.runs.manifest import read_manifest, verify, write_manifest
from glassformer.runs.weights import choose_weights, read_weights

__all__ = ["Run", "choose_weights", "is_run", "locked", "read_manifest", "read_weights", "verify", "write_manifest"]
