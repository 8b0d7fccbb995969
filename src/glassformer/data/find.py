"""Where the data sets are on this machine, and whether their files match the catalogue.

They are in GLASSFORMER_DATA, else in the user's data folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from glassformer.data.catalogue import DATASETS, FORMATS, Dataset, Split
from glassformer.data.lines import OPENERS, blocks, read_lines
from glassformer.errors import FileError, InputError, Phrase, suggest
from glassformer.places import own_folder

PACKINGS = ("", *OPENERS)


def home() -> Path:
    """The folder that holds a folder for each set."""
    return own_folder("GLASSFORMER_DATA", "XDG_DATA_HOME", ".local/share")


def dataset(name: str) -> Dataset:
    """The row of a set, or an error that names the closest."""
    if name not in DATASETS:
        raise InputError("data_unknown", name=name, hint=suggest(name, DATASETS))
    return DATASETS[name]


def find_split(name: str, split: str) -> Split:
    """A part of a set, or an error that lists its parts."""
    parts = dataset(name).splits
    if split not in parts:
        raise InputError("data_no_split", name=name, split=split, known=", ".join(parts))
    return parts[split]


def folder(name: str) -> Path:
    """Where the files of a set lie, or would lie."""
    return home() / (dataset(name).folder or name)


def locate_file(name: str, file: str) -> Path | None:
    """A file of a set, packed or not; None if there is none."""
    candidates = (folder(name) / f"{file}{packing}" for packing in PACKINGS)
    return next((path for path in candidates if path.is_file()), None)


def at_hand(name: str) -> bool:
    """Whether all files of a set are there."""
    return all(locate_file(name, file) for file in dataset(name).files)


def find(name: str, file: str) -> Path:
    """A file of a set, or an error that says how to get it."""
    path = locate_file(name, file)
    if path is None:
        raise FileError("data_set_missing", name=name, file=file, folder=folder(name), hint=_remedy(name))
    return path


def _remedy(name: str) -> Phrase:
    known = dataset(name)
    if known.address:
        return Phrase("hints.data_get", (("name", name),))
    return Phrase("hints.data_by_hand", (("source", known.source), ("files", ", ".join(known.files))))


@dataclass(frozen=True)
class Checked:
    """One file, its checksum and lines, and what is wrong with it, if anything."""

    file: str
    path: Path | None = None
    sha256: str = ""
    lines: int | None = None
    problem: FileError | None = None


def check_files(name: str) -> list[Checked]:
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
    count = sum(1 for _ in read_lines(path))
    if count != rows:
        raise FileError("data_rows", path=path, name=name, found=count, expected=rows)
    return Checked(file, path, found, count)
