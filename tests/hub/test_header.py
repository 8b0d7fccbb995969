from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from glassformer.errors import FileError
from glassformer.hub.header import LARGEST_HEADER, read_header

ONE = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def written(path: Path, table: Any, data: int = 8, length: int | None = None) -> Path:
    """A file with this header, as JSON or as bytes, and so many bytes of data; `length` is what it claims to be."""
    text = table if isinstance(table, bytes) else json.dumps(table).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + bytes(data))
    return path


def test_every_tensor_and_where_it_lies(tmp_path: Path) -> None:
    tensors = {"a": torch.zeros(3, 5), "b": torch.zeros(0, 4, dtype=torch.float16), "c": torch.tensor(1.0)}
    save_file(tensors, tmp_path / "x.safetensors", metadata={"format": "pt"})
    found = read_header(tmp_path / "x.safetensors")
    assert {name: (each.dtype, each.shape) for name, each in found.items()} == {
        "a": ("F32", (3, 5)),
        "b": ("F16", (0, 4)),
        "c": ("F32", ()),
    }
    assert found["a"].end - found["a"].start == 60


def test_a_file_without_tensors_is_a_file(tmp_path: Path) -> None:
    assert read_header(written(tmp_path / "x", {}, 0)) == {}


@pytest.mark.parametrize(
    ("table", "data", "why"),
    [
        ({"a": {**ONE, "dtype": "Q4"}}, 8, "a is of the unknown type 'Q4'"),
        ({"a": {**ONE, "dtype": ["F32"]}}, 8, r"a is of the unknown type \['F32'\]"),
        ({"a": {**ONE, "shape": [-2]}}, 8, r"a has the impossible shape \[-2\]"),
        ({"a": {**ONE, "shape": [2.0]}}, 8, r"a has the impossible shape \[2.0\]"),
        ({"a": {**ONE, "shape": [True, 2]}}, 8, r"a has the impossible shape \[True, 2\]"),
        ({"a": {**ONE, "shape": "2"}}, 8, "a has the impossible shape '2'"),
        ({"a": {**ONE, "shape": [1] * 17}}, 8, r"a has the impossible shape \[1, 1,"),
        ({"a": {**ONE, "shape": [2**62, 2**62]}}, 8, r"a has the impossible shape \[46"),
        ({"a": {**ONE, "shape": [2**40, 2**40]}}, 8, "a needs 4835703278458516698824704 bytes and has 8"),
        ({"a": {**ONE, "data_offsets": [8, 0]}}, 8, r"a has the impossible offsets \[8, 0\]"),
        ({"a": {**ONE, "data_offsets": [0]}}, 8, r"a has the impossible offsets \[0\]"),
        ({"a": {**ONE, "data_offsets": [0, 4]}}, 8, "a needs 8 bytes and has 4"),
        ({"a": {"dtype": "F32", "shape": [2]}}, 8, "a has not exactly dtype, shape and data_offsets"),
        ({"a": {**ONE, "more": 1}}, 8, "a has not exactly dtype, shape and data_offsets"),
        ({"a": 7}, 8, "a has not exactly dtype, shape and data_offsets"),
        ({"a": ONE, "b": {**ONE, "data_offsets": [4, 12]}}, 12, r"b begins at byte \d+, inside the one before"),
        ({"a": ONE, "b": ONE}, 8, r"b begins at byte \d+, inside the one before"),
        ({"a": ONE, "b": {**ONE, "data_offsets": [12, 20]}}, 20, r"b begins at byte \d+, but the one before ends at"),
        ({"a": {**ONE, "data_offsets": [4, 12]}}, 12, r"a begins at byte \d+, but the one before ends at \d+"),
        ({"a": ONE}, 4, r"it has \d+ bytes and would need \d+"),
        ({"a": ONE}, 9, r"it has \d+ bytes, of which only \d+ are used"),
        ([], 0, "its header is not JSON of the expected form"),
        (b"{", 0, "its header is not JSON of the expected form"),
        (b'{"a": \xff}', 0, "its header is not JSON of the expected form"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 0, "its header is not JSON of the expected form"),
        (b'{"a": ' + b"9" * 10_000 + b"}", 0, "its header is not JSON of the expected form"),
        (b'{"a": 1, "a": 2}', 0, "a name stands in its header twice"),
    ],
)
def test_a_hostile_header_is_one_line(tmp_path: Path, table: Any, data: int, why: str) -> None:
    path = written(tmp_path / "x.safetensors", table, data)
    with pytest.raises(
        FileError, match=rf"x.safetensors is not a safetensors file that can be trusted: {why}"
    ) as refused:
        read_header(path)
    assert "\n" not in refused.value.in_language("ko") and "fetch or write it again" in str(refused.value)


def test_a_header_that_claims_more_than_there_is(tmp_path: Path) -> None:
    path = written(tmp_path / "x", {"a": ONE}, length=2**63)
    with pytest.raises(FileError, match=r"it has \d+ bytes and would need 9223372036854775816"):
        read_header(path)
    path.write_bytes(b"123")
    with pytest.raises(FileError, match="it has 3 bytes and would need 8"):
        read_header(path)


def test_a_header_of_more_than_a_hundred_megabytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.write((LARGEST_HEADER + 1).to_bytes(8, "little"))
        file.truncate(LARGEST_HEADER + 100)  # a hole: it takes no place on the disk
    with pytest.raises(FileError, match="its header has 100000001 bytes, more than 100000000"):
        read_header(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        read_header(tmp_path)
