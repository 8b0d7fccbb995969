"""All tensors of a folder by name, in one safetensors file or in several with an index; read and written one by one.

Nothing is ever unpickled. A tensor is used where it lies in the file, which is mapped into memory, or it goes from the
file into its place in small pieces.
"""

from __future__ import annotations

import json
import math
import mmap
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from glassformer.errors import FileError
from glassformer.hub.foreign import read_foreign
from glassformer.hub.header import STORED_BYTES, Stored, read_header

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
PIECE = 2**22  # bytes that are read at a time
MAPPED_FROM = 2**20  # bytes: a smaller tensor is copied in no time
GLIMPSE = 2**24  # bytes of a tensor that is cast or reordered from a map instead, which is faster
LARGEST_READ = 2**30  # bytes: systems read less than 2 GiB in one call
OTHER_DTYPES = {  # of tensors that are not weights: position ids, masks
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
STORED_DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
NAMES = {dtype: name for name, dtype in STORED_DTYPES.items()}
StoredForm = tuple[torch.dtype, tuple[int, ...]]
METADATA = {"format": "pt"}  # `transformers` requires it


@dataclass(frozen=True)
class StoredWeights:
    """Where every tensor of a folder lies. `folder` is for error messages."""

    folder: Path
    tensors: Mapping[str, Stored]
    _maps: dict[Path, mmap.mmap] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def open(cls, folder: Path) -> StoredWeights:
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
        if stored.dtype not in STORED_DTYPES:
            raise FileError(
                "hub_dtype", path=stored.path, name=name, dtype=stored.dtype, known=", ".join(STORED_DTYPES)
            )
        return STORED_DTYPES[stored.dtype]

    def usual_dtype(self) -> torch.dtype:
        """The type that most of its numbers have: norms may be stored wider than matrices."""
        numbers = Counter({torch.float32: 0})
        for stored in self.tensors.values():
            if stored.dtype in STORED_DTYPES:
                numbers[STORED_DTYPES[stored.dtype]] += math.prod(stored.shape)
        return numbers.most_common(1)[0][0]

    def mapped(self, name: str) -> Tensor | None:
        """The whole tensor where it lies in the file, without a copy; None if it is small, or not aligned to its width.

        The map is private, copy-on-write. Writing to the tensor, as training does, copies the pages written to and
        never reaches the file; a file that is deleted, or replaced by another under its name, as every writer here
        does it, stays as it was for this tensor. No map survives a file that is cut short in place: a model whose
        folder another program may rewrite like that is opened with copies.
        The numbers are the file's, bit for bit; products with a single row may differ from those of a copy in their
        last bits, because the kernels add in another order where a matrix does not begin at a multiple of 16 bytes.
        """
        stored, dtype = self.tensors[name], self.dtype(name)
        if stored.start % dtype.itemsize or stored.end - stored.start < MAPPED_FROM:
            return None
        whole = self._map(stored.path)
        if whole.size() < stored.end:  # as it is now: to touch a page behind the end would kill the process
            raise FileError("hub_cut", path=stored.path, name=name)
        count = (stored.end - stored.start) // dtype.itemsize
        return torch.frombuffer(whole, dtype=dtype, count=count, offset=stored.start).view(stored.shape)

    def _map(self, path: Path) -> mmap.mmap:
        """One map for each file, open until the last tensor in it is gone."""
        if path not in self._maps:
            try:
                with path.open("rb") as file:
                    self._maps[path] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            except (OSError, ValueError) as error:  # ValueError: the file has become empty
                raise FileError("file_unreadable", path=path, why=str(error)) from error
        return self._maps[path]

    def _glimpse(self, name: str) -> Tensor:
        """The whole tensor in a map of its own: when it is dropped, its pages no longer count as memory of ours."""
        stored, dtype = self.tensors[name], self.dtype(name)
        begin = stored.start // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        try:
            with stored.path.open("rb") as file:
                some = mmap.mmap(file.fileno(), stored.end - begin, access=mmap.ACCESS_COPY, offset=begin)
        except ValueError as error:  # the file has become shorter
            raise FileError("hub_cut", path=stored.path, name=name) from error
        except OSError as error:
            raise FileError("file_unreadable", path=stored.path, why=error.strerror or str(error)) from error
        count = (stored.end - stored.start) // dtype.itemsize
        return torch.frombuffer(some, dtype=dtype, count=count, offset=stored.start - begin).view(stored.shape or (1,))

    def read(self, name: str) -> Tensor:
        """The whole tensor as it is stored."""
        x = torch.empty(self.tensors[name].shape, dtype=self.dtype(name))
        self.read_into(name, x)
        return x

    def read_any(self, name: str) -> Tensor:
        """The whole tensor, of any type: those that are not weights may hold integers or booleans."""
        stored = self.tensors[name]
        if stored.dtype not in OTHER_DTYPES:
            return self.read(name)
        x = torch.empty(stored.shape, dtype=OTHER_DTYPES[stored.dtype])
        self._fill(name, x.view(-1).view(torch.uint8), 0)
        return x

    def read_into(self, name: str, place: Tensor, columns: slice = slice(None), rows: slice = slice(None)) -> None:
        """Read into a tensor or view of the stored shape; or read only some rows or columns of a matrix.

        Numbers are cast to the type of `place`. This needs at most PIECE or GLIMPSE more bytes, or one row; none if
        nothing has to be cast or reordered.
        """
        with torch.no_grad():
            if not place.dim():
                place = place[None]
            if self._goes_straight(name, place, columns, rows):
                flat = place.view(-1).view(torch.uint8)
                for at in range(0, len(flat), LARGEST_READ):
                    self._fill(name, flat[at : at + LARGEST_READ], at)
                return
            if self.tensors[name].end - self.tensors[name].start <= GLIMPSE:
                place.copy_(
                    self._glimpse(name)[rows][:, columns] if columns != slice(None) else self._glimpse(name)[rows]
                )
                return
            for at, piece in self._rows(name, rows):
                place[at : at + len(piece)].copy_(piece[:, columns] if columns != slice(None) else piece)

    def _goes_straight(self, name: str, place: Tensor, columns: slice, rows: slice) -> bool:
        whole = columns == rows == slice(None)
        return whole and place.is_contiguous() and place.device.type == "cpu" and place.dtype == self.dtype(name)

    def _fill(self, name: str, place: Tensor, offset: int) -> None:
        """Fill `place`, a tensor of bytes, with the bytes of a tensor from `offset` on."""
        stored = self.tensors[name]
        try:
            with stored.path.open("rb", buffering=0) as file:
                file.seek(stored.start + offset)
                if len(place) and file.readinto(place.numpy().data) != len(place):
                    raise FileError("hub_cut", path=stored.path, name=name)
        except OSError as error:
            raise FileError("file_unreadable", path=stored.path, why=error.strerror or str(error)) from error

    def equal(self, first: str, second: str) -> bool:
        """Whether two tensors hold the same numbers; compared piece by piece."""
        if self.tensors[first].shape != self.tensors[second].shape:
            return False
        pairs = zip(self._rows(first, slice(None)), self._rows(second, slice(None)), strict=False)
        return self.dtype(first) == self.dtype(second) and all(torch.equal(a[1], b[1]) for a, b in pairs)

    def _rows(self, name: str, rows: slice) -> Iterator[tuple[int, Tensor]]:
        """The stored rows, some at a time, each batch with the number of its first row."""
        stored, dtype = self.tensors[name], self.dtype(name)
        count, *rest = stored.shape or (1,)
        row = math.prod(rest) * STORED_BYTES[stored.dtype]
        first, last, _ = rows.indices(count)
        some = max(1, PIECE // max(row, 1))
        buffer = torch.empty(min(some, max(last - first, 0)) * row, dtype=torch.uint8)  # reused for every piece
        for at in range(first, last, some):
            size = min(some, last - at)
            self._fill(name, buffer[: size * row], at * row)
            yield at - first, buffer[: size * row].view(dtype).reshape(size, *rest)


def _sharded(folder: Path) -> dict[str, Stored]:
    """The tensors of several files with an index, which must agree; no file may lie outside the folder."""
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


def write_tensors(path: Path, forms: Mapping[str, StoredForm], give: Callable[[str], Tensor]) -> None:
    """`forms`: type and shape of every tensor, known before the first is made; `give(name)` makes it.

    Wide types come first, so that every number is aligned to its width.
    """
    order = sorted(forms, key=lambda name: (-forms[name][0].itemsize, name))
    table: dict[str, object] = {"__metadata__": METADATA}
    end = 0
    for name in order:
        dtype, shape = forms[name]
        begin, end = end, end + math.prod(shape) * STORED_BYTES[NAMES[dtype]]
        table[name] = {"dtype": NAMES[dtype], "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            x = give(name)
            assert (x.dtype, tuple(x.shape)) == forms[name], name
            if x.numel():
                file.write(x.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
        file.flush()
        os.fsync(file.fileno())
