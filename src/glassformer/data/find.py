"""Where the data sets are on this machine, and whether their files match the catalogue.

They are in GLASSFORMER_DATA, else in the user's data folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from glassformer.data.catalogue import DATASETS, FORMATS, Dataset, Split
from glassformer.data.lines import OPENERS, blocks, read_lines
from glassformer.errors import FileError, InputError, Phrase, suggest
from glassformer.files import read_json
from glassformer.places import own_folder

PACKINGS = ("", *OPENERS)
MADE = "built.json"  # in the folder of a set: what it was built from, what was left out, and what came of it


def home() -> Path:
    """The folder that holds a folder for each set."""
    return own_folder("GLASSFORMER_DATA", "XDG_DATA_HOME", ".local/share")


def dataset(name: str) -> Dataset:
    """The row of a set, or of a slice of one, NAME-1000; or an error that names the closest."""
    if name in DATASETS:
        return DATASETS[name]
    whole, _, count = name.rpartition("-")
    if whole in DATASETS and DATASETS[whole].build and re.fullmatch("[1-9][0-9]{0,9}", count):
        known = DATASETS[whole]
        train = replace(known.splits["train"], rows=int(count))
        return replace(known, build=None, folder="", slice_of=whole, splits={**known.splits, "train": train})
    raise InputError("data_unknown", name=name, hint=suggest(name, DATASETS))


def slice_name(name: str, count: int) -> str:
    """What a slice of so many training pairs is called, in recipes too."""
    return f"{name}-{count}"


def slices_here() -> list[str]:
    """The slices that lie on this machine."""
    if not home().is_dir():
        return []
    names = (path.name for path in home().iterdir() if path.name not in DATASETS)
    return sorted(name for name in names if _is_slice(name) and at_hand(name))


def _is_slice(name: str) -> bool:
    try:
        return bool(dataset(name).slice_of)
    except InputError:
        return False


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
    if known.address or known.build or known.slice_of:
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
    made = read_made(name).get(file)
    if made and found != made.sha256:
        raise FileError("data_made_altered", path=path, name=name, found=found, expected=made.sha256)
    extra = FORMATS[known.format]
    if extra is None:
        return Checked(file, path, found)
    count = sum(1 for _ in read_lines(path))
    if made or _is_cleaned(known, file):  # how many are left depends on the cleaning
        return Checked(file, path, found, count)
    rows = extra + sum(split.rows for split in known.splits.values() if file in split.files)
    if count != rows:
        raise FileError("data_rows", path=path, name=name, found=count, expected=rows)
    return Checked(file, path, found, count)


def _is_cleaned(known: Dataset, file: str) -> bool:
    """Whether a file comes from training text, of which cleaning leaves we know not how much."""
    parts = [split for split in known.splits if known.build and split not in known.build.evaluated]
    return any(file in known.splits[split].files for split in parts)


@dataclass(frozen=True)
class FileRecord:
    """What a file was when it was built here: its SHA-256 and its lines."""

    sha256: str
    lines: int


def read_made(name: str) -> dict[str, FileRecord]:
    """The record of the files of a set that was built here; empty for every other."""
    known = dataset(name)
    path = folder(name) / MADE
    if not (known.build or known.slice_of) or not path.is_file():
        return {}
    found = read_json(path)
    files = found.get("files") if isinstance(found, dict) else None
    try:
        return {file: FileRecord(str(each["sha256"]), int(each["lines"])) for file, each in dict(files or {}).items()}
    except (TypeError, ValueError, KeyError) as error:
        raise FileError("data_made_damaged", path=path, name=name) from error


def rows_here(name: str, split: str) -> int:
    """How many rows a part has: as built here, else as published."""
    part = find_split(name, split)
    made = read_made(name).get(part.files[0])
    return made.lines if made else part.rows
