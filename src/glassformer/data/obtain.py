"""`glassformer data get`: a set by its name, fetched, taken from a folder, built from archives, or a slice of one."""

from __future__ import annotations

from pathlib import Path

from glassformer.data.building import build_set
from glassformer.data.download import GetWatch, Got, fetch_set
from glassformer.data.find import dataset, slice_name
from glassformer.data.slices import draw_slice, sliceable
from glassformer.errors import FileError


def obtain(name: str, source: Path | None = None, limit: int = 0, watch: GetWatch | None = None) -> tuple[str, Got]:
    """All files of a set, and its name: with `limit` that of a slice. What is there already is not fetched again."""
    known, watch = dataset(name), watch or GetWatch()
    if limit:
        if not known.build:
            raise FileError("data_no_slice", name=name, limit=limit, known=", ".join(sliceable()))
        name = slice_name(name, limit)
        known = dataset(name)
    if known.slice_of:
        return name, draw_slice(name, source, watch)
    if known.build:
        return name, build_set(name, source, watch)
    return name, fetch_set(name, source, watch)
