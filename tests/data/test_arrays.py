from __future__ import annotations

import numpy as np
import pytest

from glassformer.data.arrays import Arrays, sampled
from glassformer.errors import InputError

IMAGES = np.arange(5 * 2 * 3, dtype=np.uint8).reshape(5, 2, 3)
LABELS = np.array([0, 1, 0, 2, 1])


def arrays() -> Arrays:
    return Arrays({"image": IMAGES, "label": LABELS}, positions=6)


def test_an_example_is_one_of_each_field_and_nothing_is_copied() -> None:
    image, label = arrays()[3]
    assert image.tolist() == IMAGES[3].tolist() and int(label) == 2
    assert np.shares_memory(image, IMAGES)
    assert len(arrays()) == 5


def test_the_sampler_counts_the_positions() -> None:
    assert arrays().lengths.tolist() == [[6]] * 5


def test_some_of_them() -> None:
    assert arrays().select(LABELS == 1).fields["image"].tolist() == IMAGES[[1, 4]].tolist()
    assert [int(arrays().select([4, 0])[i][1]) for i in (0, 1)] == [1, 0]


def test_a_fingerprint_knows_numbers_shapes_types_and_names() -> None:
    other = IMAGES.copy()
    other[2, 1, 1] += 1
    others = [
        Arrays({"image": other, "label": LABELS}),
        Arrays({"image": IMAGES.reshape(5, 3, 2), "label": LABELS}),
        Arrays({"image": IMAGES.astype(np.int8), "label": LABELS}),
        Arrays({"picture": IMAGES, "label": LABELS}),
        arrays(),
    ]
    assert len({one.fingerprint for one in others}) == 5
    assert arrays().fingerprint == arrays().fingerprint


def test_of_many_numbers_some_are_taken_evenly() -> None:
    assert len(sampled(np.zeros((100, 100), np.uint8), 1000)) == 1000
    assert len(sampled(np.zeros(0), 10)) == 0


def test_fields_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match=r"the fields of the examples differ in number \(image 5, label 4\)"):
        Arrays({"image": IMAGES, "label": LABELS[:4]})
