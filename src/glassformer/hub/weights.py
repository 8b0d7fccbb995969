"""All tensors of a folder by name, in one safetensors file or in several with an index; read one by one, when asked.

Nothing is mapped into memory and nothing is ever unpickled: a tensor goes from the file into its place in small pieces.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from glassformer.errors import FileError
from glassformer.hub.foreign import read_foreign
from glassformer.hub.header import WIDTHS, Stored, read_header

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
PIECE = 2**22  # bytes that are read at a time
DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


@dataclass(frozen=True)
class Weights:
    """Where every tensor of a folder lies. `folder` is named in errors."""

    folder: Path
    tensors: Mapping[str, Stored]

    @classmethod
    def open(cls, folder: Path) -> Weights:
        if (folder / SINGLE).is_file():
            return cls(folder, read_header(folder / SINGLE))
        if (folder / INDEX).is_file():
            return cls(folder, _sharded(folder))
        for name in PICKLED:
            if (folder / name).is_file():
                raise FileError("hub_pickled", path=folder / name)
        raise FileError("hub_no_weights", path=folder, single=SINGLE, index=INDEX)

    def dtype(self, name: str) -> torch.dtype:
        stored = self.tensors[name]
        if stored.dtype not in DTYPES:
            raise FileError("hub_dtype", path=stored.path, name=name, dtype=stored.dtype, known=", ".join(DTYPES))
        return DTYPES[stored.dtype]

    def read(self, name: str) -> Tensor:
        """The whole tensor as it is stored."""
        x = torch.empty(self.tensors[name].shape, dtype=self.dtype(name))
        self.read_into(name, x)
        return x

    def read_into(self, name: str, place: Tensor, columns: slice = slice(None), rows: slice = slice(None)) -> None:
        """Into a tensor, or a view of one, of the stored shape; or some rows, or some columns, of a matrix into it.

        Numbers are cast to the type of the place. At most PIECE bytes, or one row, are held beside it.
        """
        with torch.no_grad():
            if not place.dim():
                place = place[None]
            for at, piece in self._rows(name, rows):
                place[at : at + len(piece)].copy_(piece[:, columns] if columns != slice(None) else piece)

    def equal(self, first: str, second: str) -> bool:
        """Whether two hold the same numbers; looked at piece by piece."""
        if self.tensors[first].shape != self.tensors[second].shape:
            return False
        pairs = zip(self._rows(first, slice(None)), self._rows(second, slice(None)), strict=False)
        return self.dtype(first) == self.dtype(second) and all(torch.equal(a[1], b[1]) for a, b in pairs)

    def _rows(self, name: str, rows: slice) -> Iterator[tuple[int, Tensor]]:
        """The stored rows, some at a time, each with its number among those asked for."""
        stored, dtype = self.tensors[name], self.dtype(name)
        count, *rest = stored.shape or (1,)
        row = math.prod(rest) * WIDTHS[stored.dtype]
        first, last, _ = rows.indices(count)
        some = max(1, PIECE // max(row, 1))
        try:
            with stored.path.open("rb", buffering=0) as file:
                file.seek(stored.start + first * row)
                for at in range(first, last, some):
                    size = min(some, last - at)
                    data = bytearray(size * row)
                    if data and file.readinto(data) != len(data):
                        raise FileError("hub_cut", path=stored.path, name=name)
                    flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
                    yield at - first, flat.reshape(size, *rest)
        except OSError as error:
            raise FileError("file_unreadable", path=stored.path, why=error.strerror or str(error)) from error


def _sharded(folder: Path) -> dict[str, Stored]:
    """The index and the headers of its files, which must agree; a file's name must not lead out of the folder."""
    path = folder / INDEX
    placed = read_foreign(path).within("weight_map").table
    shards: dict[str, dict[str, Stored]] = {}
    found: dict[str, Stored] = {}
    for name, file in placed.items():
        if not isinstance(file, str) or file in ("", ".", "..") or Path(file).name != file:
            raise FileError("hub_escape", path=path, name=name, file=str(file))
        if file not in shards:
            if not (folder / file).is_file():
                raise FileError("hub_shard_missing", path=path, file=file)
            shards[file] = read_header(folder / file)
        if name not in shards[file]:
            raise FileError("hub_not_in_shard", path=path, name=name, file=file)
        found[name] = shards[file][name]
    unlisted = {name: stored for shard in shards.values() for name, stored in shard.items() if name not in found}
    return found | unlisted
