"""Whether the files of a set are what the catalogue says: there, unaltered, text, aligned."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from glassformer.data.find import dataset, find
from glassformer.data.lines import blocks, lines
from glassformer.data.read import FORMATS
from glassformer.errors import FileError


@dataclass(frozen=True)
class Checked:
    """One file, what was found, and what is wrong with it, if anything."""

    file: str
    path: Path | None = None
    sha256: str = ""
    lines: int | None = None
    problem: FileError | None = None


def check(name: str) -> list[Checked]:
    """Every file of a set. Both sides of parallel text have the row's count of lines, so they are aligned."""
    return [_examined(name, file) for file in dataset(name).files]


def _examined(name: str, file: str) -> Checked:
    try:
        return check_file(name, file, find(name, file))
    except FileError as problem:
        return Checked(file, problem=problem)


def check_file(name: str, file: str, path: Path) -> Checked:
    """One file against its checksum, if it has one, and its number of lines; the first thing wrong is raised."""
    known = dataset(name)
    digest = sha256()
    for block in blocks(path):
        digest.update(block)
    found, expected = digest.hexdigest(), known.sha256.get(file, "")
    if expected and found != expected:
        raise FileError("data_altered", path=path, name=name, found=found, expected=expected)
    extra = FORMATS[known.format]
    if extra is None:
        return Checked(file, path, found)
    rows = extra + sum(split.rows for split in known.splits.values() if file in split.files)
    count = sum(1 for _ in lines(path))
    if count != rows:
        raise FileError("data_rows", path=path, name=name, found=count, expected=rows)
    return Checked(file, path, found, count)
