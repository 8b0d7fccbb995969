"""The header of a safetensors file, checked before anything is allocated: which tensors, and where each of them lies.

A foreign file is not trusted: huge sizes, overlaps, holes and deep JSON are refused in one line.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import FileError, Phrase, shown

LARGEST_HEADER = 100_000_000  # bytes: the format's own limit
LARGEST_SIZE = 2**48  # of one side of a tensor
MOST_SIDES = 16
STORED_BYTES = {  # bytes of one number
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U64": 8,
    "U32": 4,
    "U16": 2,
    "U8": 1,
    "BOOL": 1,
}


@dataclass(frozen=True)
class Stored:
    """One tensor in a file: its type as the format names it, its shape, and its bytes from `start` to `end`."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


def read_header(path: Path) -> dict[str, Stored]:
    """Every tensor of the file by name. The tensors themselves are not read."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > size - 8:
                raise _untrusted(path, "short", size=size, needed=8 + length if size >= 8 else 8)
            if length > LARGEST_HEADER:
                raise _untrusted(path, "header", length=length, limit=LARGEST_HEADER)
            text = file.read(length)
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    entries = _entries(path, text)
    found = {name: _stored(path, name, entry, 8 + length) for name, entry in entries.items()}
    _check_layout(path, found, 8 + length, size)
    return found


def _entries(path: Path, text: bytes) -> dict[str, Any]:
    """The table in the header without its `__metadata__`."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) != len(pairs):
            raise _untrusted(path, "twice")
        return table

    try:
        table = json.loads(text.decode("utf-8"), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:  # also: not UTF-8, a number of too many digits
        raise _untrusted(path, "json") from error
    if not isinstance(table, dict):
        raise _untrusted(path, "json")
    return {name: entry for name, entry in table.items() if name != "__metadata__"}


def _stored(path: Path, name: str, entry: object, begin: int) -> Stored:
    """One entry; raises unless every part has the right type, and the bytes fit the shape."""
    if not isinstance(entry, Mapping) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise _untrusted(path, "entry", name=name)
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in STORED_BYTES:
        raise _untrusted(path, "dtype", name=name, dtype=shown(dtype))
    if not _sizes(shape) or len(shape) > MOST_SIDES:
        raise _untrusted(path, "shape", name=name, shape=shown(shape))
    if not _sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _untrusted(path, "offsets", name=name, offsets=shown(offsets))
    needed, given = math.prod(shape) * STORED_BYTES[dtype], offsets[1] - offsets[0]
    if needed != given:
        raise _untrusted(path, "bytes", name=name, needed=needed, given=given)
    return Stored(path, dtype, tuple(shape), begin + offsets[0], begin + offsets[1])


def _sizes(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, int) and not isinstance(each, bool) and 0 <= each <= LARGEST_SIZE for each in value
    )


def _check_layout(path: Path, found: Mapping[str, Stored], begin: int, size: int) -> None:
    """Raises unless the tensors fill the file from the header to its end: no overlap, no hole, nothing left over."""
    end = begin
    for name, each in sorted(found.items(), key=lambda item: (item[1].start, item[1].end)):
        if each.start != end:
            raise _untrusted(path, "overlap" if each.start < end else "hole", name=name, at=each.start, end=end)
        end = each.end
    if end > size:
        raise _untrusted(path, "short", size=size, needed=end)
    if end < size:
        raise _untrusted(path, "longer", size=size, needed=end)


def _untrusted(path: Path, why: str, **values: object) -> FileError:
    return FileError("hub_header", path=path, why=Phrase(f"header.{why}", tuple(values.items())))
