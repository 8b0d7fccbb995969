from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shared_data
from glassformer.config.recipe import DataConfig
from glassformer.data.corpus import Corpus
from glassformer.data.picture_corpus import Wanted, picture_corpus
from glassformer.data.pictures import Pictures
from glassformer.errors import ConfigError, FileError, InputError
from picture_files import folder


def corpus(source: Any, size: int = 8, channels: int = 1, **data: Any) -> Corpus[Pictures]:
    return picture_corpus(Wanted(DataConfig(source=source, **data), size, channels))


def idx(path: Path, array: np.ndarray[Any, Any]) -> str:
    header = bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(header + array.astype(np.uint8).tobytes())
    return str(path)


def pair(root: Path, name: str, count: int, size: int = 8) -> list[str]:
    noise = np.random.default_rng(count)
    images = idx(root / f"{name}-images", noise.integers(0, 256, (count, size, size)))
    return [images, idx(root / f"{name}-labels", np.arange(count) % 3)]


def test_the_digits_in_three_parts() -> None:
    found = corpus({"kind": "digits", "test": 360}, validation=180)
    sizes = [len(found.train), len(found.validation), len(found.test["test"])]
    assert sum(sizes) == 1797 and abs(sizes[1] - 180) <= 5 and abs(sizes[2] - 360) <= 5
    images = [
        {image.tobytes() for image in part.pixels} for part in (found.train, found.validation, found.test["test"])
    ]
    assert not images[0] & images[1] and not images[0] & images[2] and not images[1] & images[2]
    other = corpus({"kind": "digits", "test": 360}, validation=180, seed=1)
    assert images[2] != {image.tobytes() for image in other.test["test"].pixels}


def test_digits_of_another_size() -> None:
    with pytest.raises(InputError, match="the images of digits are 8 × 8 pixels, and the model takes 16 × 16"):
        _ = corpus("digits", size=16).train
    assert corpus({"kind": "digits", "resize": True}, size=16).train.pixels.shape[2:] == (16, 16)


def test_idx_files_of_ones_own(tmp_path: Path) -> None:
    files = {"train": pair(tmp_path, "a", 30), "test": pair(tmp_path, "b", 6)}
    found = corpus({"kind": "files", **files}, validation=6)
    assert (len(found.train), len(found.validation), len(found.test["test"])) == (24, 6, 6)
    assert found.test["test"].labels == ["0", "1", "2", "0", "1", "2"]
    given = corpus({"kind": "files", **files, "validation": pair(tmp_path, "c", 9)})
    assert (len(given.train), len(given.validation)) == (30, 9)


def test_idx_files_that_hold_no_images(tmp_path: Path) -> None:
    labels = pair(tmp_path, "a", 6)[1]
    with pytest.raises(FileError, match="is not an IDX file of bytes"):
        _ = corpus({"kind": "files", "train": [labels, labels]}).train
    with pytest.raises(ConfigError, match=r'data\.source\.train=.* a list of two files, \["images", "labels"\]'):
        corpus({"kind": "files", "train": "a"})


def test_folders(tmp_path: Path) -> None:
    found = corpus({"kind": "folder", "train": str(folder(tmp_path))}, size=4, channels=3, validation=2)
    assert sorted(found.train.labels + found.validation.labels) == ["cats", "cats", "dogs", "dogs"]
    assert found.test == {}


def test_a_source_and_options_that_there_are_not() -> None:
    with pytest.raises(
        ConfigError, match=r"data.source='grammar' is unknown; use one of: digits, files, folder, catalogue"
    ):
        corpus("grammar")
    with pytest.raises(ConfigError, match=r"unknown .*tset|tset"):
        corpus({"kind": "digits", "tset": 3})
    with pytest.raises(ConfigError, match="name"):
        corpus("catalogue")


def test_fashion_mnist(monkeypatch: pytest.MonkeyPatch) -> None:
    shared_data.need(monkeypatch, "fashion-mnist")
    found = corpus({"kind": "catalogue", "name": "fashion-mnist"}, size=28).test["test"]
    assert found.pixels.shape == (10_000, 1, 28, 28) and {found.labels.count(str(i)) for i in range(10)} == {1000}
