"""A folder with one sub-folder of image files for each class: cats/1.png, dogs/2.jpg."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from glassformer.data.picture import read_picture
from glassformer.data.pictures import WHITE, Pictures
from glassformer.errors import FileError


def read_folder(path: str | Path, *, size: int, channels: int, resample: str, resize: bool) -> Pictures:
    """All images below the sub-folders, in the order of their names; hidden files are passed over, no other is.

    The name of a sub-folder is the label. An image of another size is refused, or brought to this one with `resize`.
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
