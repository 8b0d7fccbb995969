"""Folders for files that belong to no run: data sets and caches."""

from __future__ import annotations

import os
from pathlib import Path

from glassformer.errors import FileError


def own_folder(ours: str, desktop: str, beneath: str) -> Path:
    """The folder in our own variable, else `glassformer/` in that of the desktop's variable or in the home folder.

    own_folder("GLASSFORMER_CACHE", "XDG_CACHE_HOME", ".cache")
    """
    if given := os.environ.get(ours, ""):
        return Path(given)
    if given := os.environ.get(desktop, ""):
        return Path(given) / "glassformer"
    try:
        return Path.home() / beneath / "glassformer"
    except RuntimeError as error:  # no HOME, and the system does not know this user
        raise FileError("no_home", variable=ours) from error
