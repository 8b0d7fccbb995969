"""Encoded examples, held compactly: all tokens of a field in one array and where each sequence begins.

In memory or mapped from a safetensors file; an example is a tuple of arrays, one for each field.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.data.examples import Example, Kept, LengthTable, check_sizes, sampled
from glassformer.errors import FileError
from glassformer.files import write_bytes, write_parts

TokenIds = NDArray[np.int32]
FORMAT = "1"
PARTS = ("tokens", "offsets")
TYPES: dict[str, Any] = {"I32": np.int32, "I64": np.int64}  # safetensors' names
SAMPLED = 2**16  # tokens used for the fingerprint


@dataclass(frozen=True)
class Field:
    """One side of all examples: sequence i is tokens[offsets[i] : offsets[i + 1]]."""

    tokens: TokenIds
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, sequences: Iterable[Sequence[int] | TokenIds]) -> Field:
        arrays = [np.asarray(sequence, dtype=np.int32) for sequence in sequences]
        offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
        np.cumsum([len(array) for array in arrays], out=offsets[1:])
        return cls(np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int32), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> TokenIds:
        return self.tokens[self.offsets[i] : self.offsets[i + 1]]


@dataclass(frozen=True)
class Store:
    """Examples of one or more fields, source and target for example; `store[i]` is example i."""

    fields: Mapping[str, Field]

    def __post_init__(self) -> None:
        check_sizes(self.fields)

    @classmethod
    def of(cls, fields: Mapping[str, Iterable[Sequence[int] | TokenIds]]) -> Store:
        """`Store.of({"source": [[4, 5], …], "target": [[7], …]})`."""
        return cls({name: Field.of(sequences) for name, sequences in fields.items()})

    def __len__(self) -> int:
        return len(next(iter(self.fields.values())))

    def __getitem__(self, i: int) -> Example:
        return tuple(field[i] for field in self.fields.values())

    @cached_property
    def lengths(self) -> LengthTable:
        """The length of every field of every example: examples × fields; half the bytes, because there are millions."""
        found = np.empty((len(self), len(self.fields)), dtype=np.int32)
        for place, field in enumerate(self.fields.values()):
            np.subtract(field.offsets[1:], field.offsets[:-1], out=found[:, place], casting="same_kind")
        return found

    def select(self, kept: Kept) -> Store:
        """Some of the examples, in their order, as a store of its own."""
        indexes = np.arange(len(self))[kept]
        return Store({name: Field.of(field[i] for i in indexes) for name, field in self.fields.items()})

    def no_longer_than(self, max_length: int) -> Store:
        """Without examples that are too long or empty on any side."""
        longest, shortest = self.lengths.max(axis=1), self.lengths.min(axis=1)
        return self.select((longest <= max_length) & (shortest > 0))

    @cached_property
    def fingerprint(self) -> str:
        """Tells one set of data from another: all lengths, and tokens taken evenly from all of them."""
        digest = hashlib.sha256()
        for name, field in self.fields.items():
            offsets = np.ascontiguousarray(field.offsets).data
            for part in (name.encode(), offsets, sampled(field.tokens, SAMPLED)):
                digest.update(part)
        return digest.hexdigest()

    # --- files ---

    def save(self, path: str | Path) -> None:
        """Write one safetensors file, under another name first."""
        from safetensors.numpy import save

        path = Path(path)
        arrays = {f"{name}.{part}": getattr(field, part) for name, field in self.fields.items() for part in PARTS}
        about = {"format": FORMAT, "fields": json.dumps(list(self.fields))}
        write_bytes(path, save(arrays, metadata=about))

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """What `save` wrote, mapped into memory: only the parts in use are read."""
        from safetensors import SafetensorError, safe_open

        path = Path(path)
        if not path.is_file():
            raise FileError("no_such_file", path=path)
        try:
            with safe_open(str(path), framework="np") as file:  # checks that the header fits the file
                about = file.metadata() or {}
            if about.get("format") != FORMAT:
                raise FileError("not_a_store", path=path)
            arrays = _mapped(path)
            fields = {
                name: Field(*(arrays[f"{name}.{part}"] for part in PARTS)) for name in json.loads(about["fields"])
            }
        except (SafetensorError, KeyError, ValueError, TypeError) as error:
            raise FileError("not_a_store", path=path) from error
        except OSError as error:
            raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
        if not fields or not all(_fits(field) for field in fields.values()):
            raise FileError("not_a_store", path=path)
        return cls(fields)


def joined_file(path: Path, parts: Sequence[Path]) -> None:
    """One file with the examples of several, one after another: what `Store.save` would write, without the memory."""
    stores = [Store.open(part) for part in parts]
    names = list(stores[0].fields)
    ends = {name: np.cumsum([0, *(len(store.fields[name].tokens) for store in stores)]) for name in names}
    rows = 1 + sum(map(len, stores))
    header: dict[str, Any] = {"__metadata__": {"format": FORMAT, "fields": json.dumps(names)}}
    at = 0
    for part, kind, size in (("offsets", "I64", 8), ("tokens", "I32", 4)):  # the larger first, so that both are aligned
        for name in names:
            count = rows if part == "offsets" else int(ends[name][-1])
            header[f"{name}.{part}"] = {"dtype": kind, "shape": [count], "data_offsets": [at, at := at + size * count]}

    def content() -> Iterator[bytes]:
        written = json.dumps(header).encode()
        written += b" " * (-len(written) % 8)
        yield len(written).to_bytes(8, "little") + written
        for name in names:
            yield bytes(8)
            for store, before in zip(stores, ends[name], strict=False):
                yield (store.fields[name].offsets[1:] + before).astype(np.int64).tobytes()
        for name in names:
            for store in stores:
                yield store.fields[name].tokens.tobytes()

    write_parts(path, content())


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file, mapped: 8 bytes of length, a JSON header, the numbers."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    arrays: dict[str, NDArray[Any]] = {}
    for name, entry in header.items():
        if name != "__metadata__":
            shape, dtype, start = tuple(entry["shape"]), TYPES[entry["dtype"]], 8 + length + entry["data_offsets"][0]
            empty = 0 in shape  # an empty array cannot be mapped
            arrays[name] = np.zeros(shape, dtype) if empty else np.memmap(path, dtype, "r", start, shape)
    return arrays


def _fits(field: Field) -> bool:
    """Whether the offsets begin at 0, never decrease, and end where the tokens end."""
    tokens, offsets = field.tokens, field.offsets
    if tokens.dtype != np.int32 or offsets.dtype != np.int64 or tokens.ndim != 1 or offsets.ndim != 1:
        return False
    ends = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(tokens)
    return bool(ends and (np.diff(offsets) >= 0).all())
