from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest

from glassformer.data.pictures import Pictures, apart, read_digits, resized
from glassformer.errors import ConfigError, InputError


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
    with pytest.raises(ConfigError, match=r"source=digits needs a package .* pip install 'glassformer\[images\]'"):
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
