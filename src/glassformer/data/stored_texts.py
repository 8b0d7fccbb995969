"""Texts in a file, mapped: a sequence of millions that takes no memory, and some of them, prepared, as another.

The bytes of all texts one after another in NAME.text, in UTF-8, and where each begins in NAME.offsets.
"""

from __future__ import annotations

import hashlib
import mmap
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import overload
from unicodedata import unidata_version

import numpy as np
from numpy.typing import NDArray

from glassformer.data.lines import OPENERS
from glassformer.data.prepared import identity, mark_of, prepared
from glassformer.data.watching import tell
from glassformer.files import write_bytes

LARGE = 2**24  # bytes of the files of a set; from here on its texts are kept in the cache, below in memory
UNPACKED = 4  # times the size of a packed file, roughly
PACKED = (*OPENERS, ".parquet")
AT_ONCE = 2**12  # texts that are written, or read, together
SKIPPED = "skipped.rows"  # the numbers of the lines that were left out
VERSION = 1  # of what is written; another version makes it again

RowNumbers = NDArray[np.int64]
Prepare = tuple[str, str]  # how, and the language: see data/moses.py


def are_large(files: Iterable[str | Path]) -> bool:
    """Whether the texts of these files are kept in the cache rather than in memory."""
    paths = [Path(file) for file in files]
    if not all(path.is_file() for path in paths):
        return False  # the reader says which is missing
    return sum(path.stat().st_size * (UNPACKED if path.suffix in PACKED else 1) for path in paths) >= LARGE


@dataclass(frozen=True, eq=False)
class StoredTexts(Sequence[str]):
    """The texts of one column of a folder in the cache; `rows`: which of them; `prepare`: changed when read."""

    folder: Path
    name: str
    rows: RowNumbers | None = None
    prepare: Prepare | None = None

    def __len__(self) -> int:
        return len(self._offsets) - 1 if self.rows is None else len(self.rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> StoredTexts: ...
    def __getitem__(self, index: int | slice) -> str | StoredTexts:
        if isinstance(index, slice):
            return self.chosen(np.arange(len(self))[index])
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return next(self._read(np.arange(len(self))[[index]] if self.rows is None else self.rows[[index]]))

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), AT_ONCE):
            yield from self._read(self._places(first, min(first + AT_ONCE, len(self))))

    def _places(self, first: int, end: int) -> RowNumbers:
        return np.arange(first, end) if self.rows is None else self.rows[first:end]

    def _read(self, rows: RowNumbers) -> Iterator[str]:
        content, change = _content(self.folder, self.name), self._change
        begin, end = self._offsets[rows].tolist(), self._offsets[rows + 1].tolist()
        for first, last in zip(begin, end, strict=True):
            text = content[first:last].decode("utf-8")
            yield text if change is None else change(text)

    @cached_property
    def _offsets(self) -> NDArray[np.int64]:
        return np.memmap(self.folder / f"{self.name}.offsets", np.int64, "r")

    @cached_property
    def _change(self) -> Callable[[str], str] | None:
        from glassformer.data.moses import prepared_side

        return None if self.prepare is None else prepared_side(*self.prepare)

    def chosen(self, indexes: Iterable[int]) -> StoredTexts:
        """Some of them, in the order given."""
        rows = np.asarray(indexes if isinstance(indexes, np.ndarray) else list(indexes), dtype=np.int64)
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    def changed(self, how: str, language: str) -> StoredTexts:
        """Each prepared when it is read: see `data/moses.py`."""
        return self if how == "none" else replace(self, prepare=(how, language))

    @cached_property
    def mark(self) -> str:
        """Tells these texts from all others, without reading them."""
        rows = "" if self.rows is None else hashlib.sha256(np.ascontiguousarray(self.rows).data).hexdigest()
        return mark_of([self.folder.name, self.name, rows, self.prepare])


def chosen_texts(texts: Sequence[str], rows: RowNumbers) -> Sequence[str]:
    """Some of the texts, in memory or in the cache."""
    return texts.chosen(rows) if isinstance(texts, StoredTexts) else [texts[i] for i in rows.tolist()]


@cache
def _content(folder: Path, name: str) -> mmap.mmap:
    """The bytes of all texts of a column, mapped once in a process."""
    with (folder / f"{name}.text").open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def stored_columns(
    files: Sequence[str | Path],
    form: object,
    names: Sequence[str],
    read: Callable[[list[int]], Iterator[tuple[str, ...]]],
) -> tuple[list[StoredTexts], tuple[int, ...]]:
    """The columns that `read` gives from these files, from the cache, and the lines that it skipped.

    `form`: how the files are read, as JSON; `read` is given a list for the numbers of the lines that it skips.
    """
    key = {
        "files": [identity(Path(file)) for file in files],
        "form": form,
        "names": [*names],
        "unicode": unidata_version,  # NFC is Python's own
        "version": VERSION,
    }

    def make(draft: Path) -> None:
        skipped: list[int] = []
        try:
            write_columns(draft, names, read(skipped))
        except Exception:  # a line that is refused, a full disk: what was read is read again, and only takes room
            shutil.rmtree(draft, ignore_errors=True)
            raise
        write_bytes(draft / SKIPPED, np.array(skipped, dtype=np.int64).tobytes())

    folder = prepared("texts", key, make)
    skipped = np.frombuffer((folder / SKIPPED).read_bytes(), dtype=np.int64)
    return [StoredTexts(folder, name) for name in names], tuple(skipped.tolist())


def write_columns(draft: Path, names: Sequence[str], rows: Iterator[tuple[str, ...]]) -> None:
    """Every column of the rows in two files; what an interrupted process left is written again."""
    with ExitStack() as stack:
        contents = [stack.enter_context((draft / f"{name}.text").open("wb")) for name in names]
        places = [stack.enter_context((draft / f"{name}.offsets").open("wb")) for name in names]
        for place in places:
            place.write(np.zeros(1, dtype=np.int64).tobytes())
        ends, count = [0] * len(names), 0
        while batch := list(islice(rows, AT_ONCE)):
            for i, column in enumerate(zip(*batch, strict=True)):
                coded = [text.encode("utf-8") for text in column]
                offsets = ends[i] + np.cumsum([len(each) for each in coded], dtype=np.int64)
                contents[i].write(b"".join(coded))
                places[i].write(offsets.tobytes())
                ends[i] = int(offsets[-1])
            count += len(batch)
            tell("reading", count)
