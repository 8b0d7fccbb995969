from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from glassformer.data.images import read_idx, read_images
from glassformer.errors import FileError


def write(folder: Path, content: bytes, name: str = "images") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


IMAGES = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255])
LABELS = bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])


def test_two_images_of_one_row_and_three_columns(tmp_path: Path) -> None:
    found = read_images(write(tmp_path, IMAGES), write(tmp_path, lzma.compress(LABELS), "labels.xz"))
    assert found.images.tolist() == [[[1, 2, 3]], [[4, 5, 255]]]
    assert (found.labels.tolist(), len(found)) == ([7, 9], 2)


@pytest.mark.parametrize("content", [b"", b"\0\0\x08", IMAGES[:9], b"PNG" + IMAGES, b"\0\0\x0d\x01" + LABELS[4:]])
def test_what_is_no_idx_is_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is not an IDX file of bytes; use one in the format of MNIST"):
        read_idx(write(tmp_path, content))


@pytest.mark.parametrize("content", [IMAGES[:-1], IMAGES + b"x"])
def test_too_few_or_too_many_bytes_are_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"should hold 2 × 1 × 3 bytes after its header and holds [57]"):
        read_idx(write(tmp_path, content))


def test_as_many_labels_as_images(tmp_path: Path) -> None:
    one = bytes([0, 0, 8, 1, 0, 0, 0, 1, 7])
    with pytest.raises(FileError, match="labels holds 1 labels for 2 images; use two files"):
        read_images(write(tmp_path, IMAGES), write(tmp_path, one, "labels"))
