from __future__ import annotations

import numpy as np
import pytest

from glassformer.data.examples import Arrays, Examples, Windows, sampled
from glassformer.data.sampler import Sampler
from glassformer.data.store import Store
from glassformer.errors import InputError

KINDS: dict[str, Examples] = {
    "store": Store.of({"text": [[1, 2], [3], [4, 5, 6]], "label": [[0], [1], [0]]}),
    "arrays": Arrays({"image": np.zeros((3, 2, 2)), "label": np.arange(3)}, positions=2),
    "windows": Windows(np.arange(5.0), np.arange(3), (2, 1), positions=2),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_examples_can_be_sampled(name: str) -> None:
    examples = KINDS[name]
    assert len(examples) == 3 and examples.lengths.ndim == 2 and len(examples.lengths) == 3
    assert all(isinstance(field, np.ndarray) for field in examples[1]) and len(examples[1]) >= 2
    batches = Sampler(lengths=examples.lengths, batch_tokens=4).batches(0)
    assert sorted(np.concatenate(batches).tolist()) == [0, 1, 2]
    chosen = examples.select([0, 2])
    assert len(chosen) == 2 and chosen.fingerprint != examples.fingerprint
    assert all(np.array_equal(a, b) for a, b in zip(chosen[1], examples[2], strict=True))


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


SERIES = np.arange(20.0).reshape(10, 2)


def windows() -> Windows:
    return Windows(SERIES, np.arange(7), (3, 1), positions=3)


def test_a_window_is_cut_into_its_fields_and_nothing_is_copied() -> None:
    past, future = windows()[2]
    assert past.tolist() == SERIES[2:5].tolist() and future.tolist() == SERIES[5:6].tolist()
    assert np.shares_memory(past, SERIES)


def test_every_window_that_fits_is_there() -> None:
    assert len(windows()) == 7
    assert windows()[6][1].tolist() == SERIES[9:].tolist()  # the last one too
    assert windows().lengths.tolist() == [[3]] * 7


def test_some_windows() -> None:
    assert windows().select([0, 5]).starts.tolist() == [0, 5]
    assert windows().select(np.arange(7) > 4).starts.tolist() == [5, 6]


def test_a_fingerprint_knows_values_starts_and_sizes() -> None:
    others = [
        windows(),
        Windows(SERIES + 1, windows().starts, (3, 1), 3),
        Windows(SERIES, windows().starts[:-1], (3, 1), 3),
        Windows(SERIES, windows().starts, (2, 2), 3),
    ]
    assert len({one.fingerprint for one in others}) == 4
    assert windows().fingerprint == windows().fingerprint


def test_a_window_beyond_the_end_is_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError, match="beyond the end"):
        Windows(SERIES, np.array([8]), (3,), 3)
