from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from glassformer.data.store import Field, Store, joined_file
from glassformer.errors import FileError, InputError
from small_disk import no_file_larger_than

SENTENCES = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=6), max_size=8)


def store() -> Store:
    return Store.of({"source": [[1, 2, 3], [], [4]], "target": [[5], [6, 7], [8, 9]]})


def test_an_example_is_one_sequence_of_each_field() -> None:
    examples = store()
    assert len(examples) == 3
    assert [field.tolist() for field in examples[0]] == [[1, 2, 3], [5]]
    assert [field.tolist() for field in examples[1]] == [[], [6, 7]]
    assert examples.lengths.tolist() == [[3, 1], [0, 2], [1, 2]]
    assert examples[0][0].dtype == np.int32


@settings(max_examples=40, deadline=None)
@given(sentences=SENTENCES)
def test_what_goes_in_comes_out_of_memory_and_of_a_file(
    sentences: list[list[int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = Store.of({"text": sentences})
    path = tmp_path_factory.mktemp("store") / "examples.safetensors"
    made.save(path)
    opened = Store.open(path)
    for examples in (made, opened):
        assert [examples[i][0].tolist() for i in range(len(examples))] == sentences
    assert opened.fingerprint == made.fingerprint


def test_a_file_is_mapped_and_not_read(tmp_path: Path) -> None:
    store().save(tmp_path / "x")
    opened = Store.open(tmp_path / "x")
    assert list(opened.fields) == ["source", "target"]
    assert isinstance(opened.fields["source"].tokens, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        opened[0][0][0] = 5
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_some_examples_are_a_store_of_their_own() -> None:
    some = store().select([0, 2])
    assert [[f.tolist() for f in some[i]] for i in range(len(some))] == [[[1, 2, 3], [5]], [[4], [8, 9]]]
    assert len(store().no_longer_than(2)) == 1  # one is too long, one has nothing on one side
    assert len(store().no_longer_than(3)) == 2


def test_the_fingerprint_tells_data_apart() -> None:
    same, other = Store.of({"text": [[1, 2], [3]]}), Store.of({"text": [[1, 2], [4]]})
    cut, named = Store.of({"text": [[1], [2, 3]]}), Store.of({"words": [[1, 2], [3]]})
    assert len({one.fingerprint for one in (same, other, cut, named)}) == 4
    assert Store.of({"text": [[1, 2], [3]]}).fingerprint == same.fingerprint


def test_fields_of_different_numbers_are_refused() -> None:
    with pytest.raises(InputError, match=r"differ in number \(source 1, target 2\); give every example all"):
        Store.of({"source": [[1]], "target": [[1], [2]]})


def damaged(tmp_path: Path, content: bytes) -> Path:
    (tmp_path / "x").write_bytes(content)
    return tmp_path / "x"


def test_a_file_that_is_no_store_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="none: no such file"):
        Store.open(tmp_path / "none")
    store().save(tmp_path / "x")
    whole = (tmp_path / "x").read_bytes()
    for content in (b"", b"abc", whole[:-5], whole[:40], b"\xff" * 50, struct.pack("<Q", 2) + b"{}"):
        with pytest.raises(FileError, match="x is not a file of encoded examples"):
            Store.open(damaged(tmp_path, content))


@pytest.mark.parametrize(
    ("tokens", "offsets"),
    [
        (np.zeros(3, np.int32), np.array([0, 2], np.int64)),
        (np.zeros(3, np.int32), np.array([1, 3], np.int64)),
        (np.zeros(3, np.int32), np.array([0, 5, 3], np.int64)),
        (np.zeros(3, np.int32), np.zeros(0, np.int64)),
        (np.zeros(3, np.int64), np.array([0, 3], np.int64)),
        (np.zeros(3, np.float32), np.array([0, 3], np.int64)),
        (np.zeros((3, 1), np.int32), np.array([0, 3], np.int64)),
    ],
)
def test_offsets_that_lead_outside_are_refused(tmp_path: Path, tokens: np.ndarray, offsets: np.ndarray) -> None:
    arrays = {"text.tokens": tokens, "text.offsets": offsets}
    save_file(arrays, tmp_path / "x", metadata={"format": "1", "fields": '["text"]'})
    with pytest.raises(FileError, match="x is not a file of encoded examples"):
        Store.open(tmp_path / "x")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    store().save(path)
    large = Store({"text": Field(np.zeros(5000, np.int32), np.array([0, 5000]))})
    with no_file_larger_than(1000), pytest.raises(FileError, match="x cannot be written: File too large"):
        large.save(path)
    assert Store.open(path).fingerprint == store().fingerprint
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@given(parts=st.lists(SENTENCES, min_size=1, max_size=4))
@settings(max_examples=20, deadline=None)
def test_several_files_become_the_file_of_all(
    parts: list[list[list[int]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    paths = [folder / str(i) for i in range(len(parts))]
    for path, sentences in zip(paths, parts, strict=True):
        Store.of({"source": sentences, "target": [each[:1] for each in sentences]}).save(path)
    joined_file(folder / "all", paths)
    every = [each for sentences in parts for each in sentences]
    found = Store.open(folder / "all")
    assert found.fingerprint == Store.of({"source": every, "target": [each[:1] for each in every]}).fingerprint
    assert [found[i][0].tolist() for i in range(len(found))] == every
