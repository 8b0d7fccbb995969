"""Images in the IDX format of MNIST: two zero bytes, a type, the number of axes, their sizes, then the bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glassformer.data.lines import blocks
from glassformer.errors import FileError

UNSIGNED_BYTES = 8


@dataclass(frozen=True)
class Images:
    """Grey images, n × height × width, and the class of each; bytes as stored."""

    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.labels)


def read_images(images: str | Path, labels: str | Path) -> Images:
    """Two IDX files of the same count."""
    pictures, classes = read_idx(images), read_idx(labels)
    if len(pictures) != len(classes):
        raise FileError("data_image_counts", path=labels, found=len(classes), expected=len(pictures))
    return Images(pictures, classes)


def read_idx(path: str | Path) -> NDArray[np.uint8]:
    """One IDX file of unsigned bytes, plain or packed."""
    content = b"".join(blocks(Path(path)))
    axes = content[3] if len(content) >= 4 else 0
    start = 4 + 4 * axes
    if content[:3] != bytes((0, 0, UNSIGNED_BYTES)) or not axes or len(content) < start:
        raise FileError("data_not_idx", path=path)
    sizes = struct.unpack(f">{axes}I", content[4:start])
    if len(content) - start != prod(sizes):
        raise FileError("data_idx_size", path=path, sizes=" × ".join(map(str, sizes)), found=len(content) - start)
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(sizes)
