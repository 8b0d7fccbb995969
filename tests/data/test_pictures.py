from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from glassformer.data.pictures import Pictures, apart, read_digits, read_folder, resized
from glassformer.errors import ConfigError, FileError, InputError
from picture_files import folder


def some(count: int = 40, size: int = 4, channels: int = 1) -> Pictures:
    pixels = np.random.default_rng(0).integers(0, 256, (count, channels, size, size), dtype=np.uint8)
    return Pictures(pixels, ["even" if i % 2 == 0 else "odd" for i in range(count)], "here")


def test_the_digits_are_bytes_of_seventeen_levels() -> None:
    digits = read_digits()
    assert digits.pixels.shape == (1797, 1, 8, 8) and digits.pixels.dtype == np.uint8
    assert (digits.pixels.min(), digits.pixels.max(), len(np.unique(digits.pixels))) == (0, 255, 17)
    assert sorted(set(digits.labels)) == [str(i) for i in range(10)]


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    read_digits.cache_clear()
    with pytest.raises(ConfigError, match=r"data.source=digits needs a package .* pip install 'glassformer\[images\]'"):
        read_digits()


def test_of_each_label_its_share_and_no_image_in_both() -> None:
    digits = read_digits()
    rest, taken = apart(digits, 360, 0)
    assert len(rest) + len(taken) == 1797 and abs(len(taken) - 360) <= 5
    counts, whole = Counter(taken.labels), Counter(digits.labels)
    assert all(abs(counts[label] - whole[label] * 360 / 1797) <= 0.5 for label in whole)
    assert not {image.tobytes() for image in rest.pixels} & {image.tobytes() for image in taken.pixels}


def test_a_draw_depends_on_the_seed_and_not_on_the_order() -> None:
    pictures = some()
    turned = pictures.chosen(reversed(range(len(pictures))))
    kept = {image.tobytes() for image in apart(pictures, 10, 1)[1].pixels}
    assert kept == {image.tobytes() for image in apart(turned, 10, 1)[1].pixels}
    assert kept != {image.tobytes() for image in apart(pictures, 10, 2)[1].pixels}


def test_copies_of_an_image_stay_together() -> None:
    pictures = some()
    doubled = pictures.chosen([*range(40), *range(40)])
    rest, taken = apart(doubled, 20, 0)
    assert len(taken) and not {image.tobytes() for image in rest.pixels} & {image.tobytes() for image in taken.pixels}


def test_no_more_than_half_is_set_apart() -> None:
    rest, taken = apart(some(8), 100, 0)
    assert len(rest) == len(taken) == 4
    assert len(apart(some(8), 0, 0)[1]) == 0


def test_another_size_is_refused_or_made_to_fit() -> None:
    with pytest.raises(InputError, match="the images of here are 4 × 4 pixels, and the model takes 8 × 8"):
        some().fitted(8, 1)
    assert some().fitted(8, 1, resize=True).pixels.shape == (40, 1, 8, 8)
    assert (some().fitted(4, 1).pixels == some().pixels).all()


def test_grey_becomes_colour_and_not_the_other_way_round() -> None:
    colour = some().fitted(4, 3)
    assert colour.pixels.shape == (40, 3, 4, 4) and (colour.pixels[:, 0] == colour.pixels[:, 2]).all()
    with pytest.raises(
        InputError, match=r"the images of here have 3 channels, and the model takes 1; set input.channel"
    ):
        some(channels=3).fitted(4, 1)


def test_resizing_by_hand() -> None:
    image = np.array([[[[0, 100], [200, 100]]]], dtype=np.uint8)
    assert resized(image, 1).tolist() == [[[[100]]]]
    assert resized(np.full((1, 1, 3, 3), 7, dtype=np.uint8), 6).tolist() == [[[[7] * 6] * 6]]


def read(path: Path, size: int = 4, resize: bool = False) -> Pictures:
    return read_folder(path, size=size, channels=3, resample="bilinear", resize=resize)


def test_the_name_of_a_folder_is_the_label(tmp_path: Path) -> None:
    found = read(folder(tmp_path))
    assert found.labels == ["cats", "cats", "dogs", "dogs"] and found.origin == str(tmp_path)
    stored = np.asarray(Image.open(tmp_path / "dogs" / "1.png"))
    assert (found.pixels[2] == stored.transpose(2, 0, 1)).all()


def test_a_file_of_another_size_is_refused_or_made_to_fit(tmp_path: Path) -> None:
    folder(tmp_path)
    with pytest.raises(
        FileError, match=r"1\.png is 4 × 4 pixels, and the model takes 8 × 8; set data\.source\.resize=true"
    ):
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
