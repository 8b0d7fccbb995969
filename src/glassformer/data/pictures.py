"""Labelled images of one size, in memory, bytes as stored: the built-in digits, or a folder for each class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from glassformer.data.corpus import content_mark, held_out
from glassformer.data.picture import read_picture
from glassformer.errors import ConfigError, FileError, InputError

PixelBytes = NDArray[np.uint8]
WHITE = 255
DARKEST = 16  # the largest of scikit-learn's grey levels


@dataclass(frozen=True)
class Pictures:
    """Images, n × c × height × width, and the label of each; `origin` names where they came from, for errors."""

    pixels: PixelBytes
    labels: list[str]
    origin: str

    def __len__(self) -> int:
        return len(self.labels)

    def chosen(self, indexes: Iterable[int]) -> Pictures:
        """Some of them, in the order given."""
        some = list(indexes)
        return Pictures(self.pixels[np.array(some, dtype=np.int64)], [self.labels[i] for i in some], self.origin)

    def fitted(self, size: int, channels: int, resize: bool = False) -> Pictures:
        """Images as a model of this size takes them: for a colour model, a grey channel is repeated three times.

        Another size is refused, or with `resize` resized to this one.
        """
        _, found, height, width = self.pixels.shape
        pixels = self.pixels
        if (height, width) != (size, size):
            if not resize:
                raise InputError("picture_sizes", origin=self.origin, width=width, height=height, size=size)
            pixels = resized(pixels, size)
        if found != channels:
            if found != 1:
                raise InputError("picture_colours", origin=self.origin, found=found, channels=channels)
            pixels = np.repeat(pixels, channels, axis=1)  # n channels size size
        return Pictures(pixels, self.labels, self.origin)


def resized(pixels: PixelBytes, size: int) -> PixelBytes:
    """Resized to a square, bilinearly with antialiasing."""
    whole = torch.from_numpy(np.ascontiguousarray(pixels)).float()  # n c height width
    found = F.interpolate(whole, (size, size), mode="bilinear", antialias=True)  # n c size size
    return found.round().clamp(0, WHITE).byte().numpy()


def load_handwritten(asked: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """scikit-learn's 1,797 handwritten digits, n 8 8 in 0 … 16, and their classes; `asked`: what needs them."""
    try:
        from sklearn.datasets import load_digits  # type: ignore[import-untyped]
    except ImportError as error:
        raise ConfigError("needs_package", what=asked, package="glassformer[images]") from error
    found = load_digits()
    return found.images.astype(np.uint8), found.target.astype(np.int64)


@cache
def read_digits() -> Pictures:
    """The handwritten digits, their 16 grey levels scaled to bytes."""
    images, labels = load_handwritten("data.source=digits")
    pixels = (images * (WHITE / DARKEST)).round().astype(np.uint8)[:, None]  # n 1 8 8
    return Pictures(pixels, [str(label) for label in labels.tolist()], "digits")


def apart(pictures: Pictures, number: int, seed: int) -> tuple[Pictures, Pictures]:
    """(the rest, about `number` images held out): the same share of each label, and no image in both.

    Drawn by the content of an image and the seed: the order of files does not matter, and copies stay together.
    """
    marks = [content_mark(seed, image.tobytes()) for image in pictures.pixels]
    return held_out(pictures, marks, number, pictures.labels)


def read_folder(path: str | Path, *, size: int, channels: int, resample: str, resize: bool) -> Pictures:
    """All images below the sub-folders, in the order of their names; only hidden files are skipped.

    The name of a sub-folder is the label. An image of another size is refused, or with `resize` resized to this one.
    """
    every = [(name, file) for name, some in image_files(path).items() for file in some]
    pixels = np.empty((len(every), channels, size, size), dtype=np.uint8)
    for i, (_, file) in enumerate(every):
        image = read_picture(file, size=size, channels=channels, resample=resample, resize=resize)  # c size size
        pixels[i] = (image * WHITE).round().byte().numpy()
    return Pictures(pixels, [name for name, _ in every], str(path))


def image_files(path: str | Path) -> dict[str, list[Path]]:
    """The files of each class, none of them opened; a folder without classes and a class without files are refused."""
    path = Path(path)
    try:
        classes = sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith("."))
        files = {each.name: _files(each) for each in classes}
    except FileNotFoundError as error:
        raise FileError("no_such_file", path=path) from error
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    if not classes:
        raise FileError("picture_no_classes", path=path)
    for name, some in files.items():
        if not some:
            raise FileError("picture_class_empty", path=path / name)
    return files


def _files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.rglob("*") if each.is_file() and not each.name.startswith("."))
