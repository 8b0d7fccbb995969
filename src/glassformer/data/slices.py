"""A slice of a set that is built here: some of its training pairs under a name of their own, NAME-1000.

They are drawn over all corpora of the set, always the same ones, and a smaller slice is part of every larger one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from glassformer.data.building import build_set
from glassformer.data.catalogue import DATASETS
from glassformer.data.download import GetWatch, Got, one_process
from glassformer.data.find import MADE, check_file, dataset, find, folder, locate_file
from glassformer.data.lines import read_lines
from glassformer.errors import FileError
from glassformer.files import TEMPORARY, copy_file, disk, sync, write_json

SEED = 14


def draw_slice(name: str, source: Path | None, watch: GetWatch) -> Got:
    """The files of a slice, drawn from the whole set, which is built first if it is not there."""
    known, place = dataset(name), folder(name)
    whole, count = known.slice_of, known.splits["train"].rows
    made: dict[str, dict[str, Any]] = {}
    with one_process(place, watch):
        if not all(locate_file(name, file) for file in known.files):
            build_set(whole, source, watch)
            first, *others = known.splits["train"].files
            total = sum(1 for _ in read_lines(find(whole, first)))
            if count > total:
                raise FileError("data_slice_too_large", name=whole, limit=count, total=total)
            for file in known.files:
                if file in (first, *others):
                    _draw(find(whole, file), place / file, chosen(total, count))
                else:
                    copy_file(published := find(whole, file), place / published.name)
                checked = check_file(name, file, find(name, file))
                made[file] = {"sha256": checked.sha256, "lines": checked.lines}
            write_json(place / MADE, {"slice_of": whole, "pairs": count, "of": total, "seed": SEED, "files": made})
        paths = [path for file in known.files if (path := locate_file(name, file))]
    return Got(paths, {file: each["sha256"] for file, each in made.items()})


def sliceable() -> list[str]:
    """The sets of which a slice can be drawn."""
    return [name for name, known in DATASETS.items() if known.build]


def chosen(total: int, count: int) -> Iterator[int]:
    """The numbers of `count` of `total` pairs, in their order: those with the smallest of one random number each.

    The raw numbers of PCG64 are promised to stay the same; pair i has the same number however many follow it.
    """
    import numpy as np

    keys = np.random.PCG64(SEED).random_raw(total)
    numbers = np.argpartition(keys, count - 1)[:count] if count < total else np.arange(total)
    return map(int, np.sort(numbers))


def _draw(source: Path, path: Path, numbers: Iterator[int]) -> None:
    """The lines of these numbers, in a file that is whole or not there."""
    draft = path.with_name(TEMPORARY + path.name)
    following = next(numbers, -1)
    with disk(path):
        try:
            with draft.open("wb") as file:
                for number, line in enumerate(read_lines(source)):
                    if number == following:
                        file.write(f"{line}\n".encode())
                        following = next(numbers, -1)
                    if following < 0:
                        break
            sync(draft)
            draft.replace(path)
            sync(path.parent)
        finally:
            draft.unlink(missing_ok=True)
