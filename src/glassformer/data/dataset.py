"""A row of the catalogue: what is known of one data set."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Split:
    """The files of one part (parallel text: one per language, in the order of `languages`) and how much is in it."""

    files: tuple[str, ...]
    rows: int  # pairs, reviews, days, images; of plain text: characters


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """One set. A file is found under its name as it stands, with .gz or with .xz behind it."""

    task: str
    format: str  # a key of read.FORMATS
    languages: tuple[str, ...] = ()  # of parallel files and of the first columns of a TSV, in their order
    licence: str
    source: str  # where a person reads about it
    address: str = ""  # where `get` finds a {file}, or the archive {stem}.tar.gz that holds it; "": nowhere ready made
    folder: str = ""  # if it is not called like the set
    splits: dict[str, Split]
    sha256: dict[str, str] = field(default_factory=dict)  # of the content, unpacked: the same however it is packed
    verified: bool = True  # counted and read by us; else: as published

    @property
    def files(self) -> tuple[str, ...]:
        """Every file once."""
        return tuple(dict.fromkeys(file for split in self.splits.values() for file in split.files))


def parallel(stem: str, languages: tuple[str, ...], rows: int) -> Split:
    """A split of parallel text whose files are called stem.en, stem.de …"""
    return Split(tuple(f"{stem}.{language}" for language in languages), rows)
