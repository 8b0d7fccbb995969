from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from glassformer.data.picture_folder import read_folder
from glassformer.data.pictures import Pictures
from glassformer.errors import FileError
from picture_files import folder


def read(path: Path, size: int = 4, resize: bool = False) -> Pictures:
    return read_folder(path, size=size, channels=3, resample="bilinear", resize=resize)


def test_the_name_of_a_folder_is_the_label(tmp_path: Path) -> None:
    found = read(folder(tmp_path))
    assert found.labels == ["cats", "cats", "dogs", "dogs"] and found.origin == str(tmp_path)
    stored = np.asarray(Image.open(tmp_path / "dogs" / "1.png"))
    assert (found.pixels[2] == stored.transpose(2, 0, 1)).all()


def test_another_size_is_refused_or_made_to_fit(tmp_path: Path) -> None:
    folder(tmp_path)
    with pytest.raises(FileError, match=r"1\.png is 4 × 4 pixels, and the model takes 8 × 8; set source\.resize=true"):
        read(tmp_path, size=8)
    assert read(tmp_path, size=8, resize=True).pixels.shape == (4, 3, 8, 8)


def test_what_is_no_folder_of_classes(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"none"):
        read(tmp_path / "none")
    with pytest.raises(FileError, match="holds no sub-folder, and each class needs one"):
        read(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="file"):
        read(tmp_path / "file")
    folder(tmp_path)
    (tmp_path / "birds").mkdir()
    with pytest.raises(FileError, match="birds holds no image; put some into it, or delete it"):
        read(tmp_path)


def test_a_file_that_is_cut_off_or_no_image_is_named(tmp_path: Path) -> None:
    folder(tmp_path)
    good = (tmp_path / "cats" / "1.png").read_bytes()
    (tmp_path / "cats" / "1.png").write_bytes(good[: len(good) // 2])
    with pytest.raises(FileError, match=r"cats/1\.png cannot be read as an image"):
        read(tmp_path)
    (tmp_path / "cats" / "1.png").write_text("no image at all")
    with pytest.raises(FileError, match=r"cats/1\.png is not an image that can be read"):
        read(tmp_path)
