from __future__ import annotations

import numpy as np
import pytest

from glassformer.data.augment import Augmentation, augmented, crop, erase, flip, mixup

BLACK = np.full((1, 1, 1), -1.0, dtype=np.float32)


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def images(count: int = 200, channels: int = 1, size: int = 6) -> np.ndarray:  # type: ignore[type-arg]
    return chance(9).random((count, channels, size, size), dtype=np.float32) + 0.5


def test_a_crop_moves_an_image_and_fills_with_black() -> None:
    given = images(channels=2)
    found = crop(given, 1, chance(), np.array([[[-1.0]], [[-2.0]]], dtype=np.float32))
    assert found.shape == given.shape and found.dtype == np.float32
    moves = set()
    for before, after in zip(given, found, strict=True):
        wide = np.stack(
            [np.pad(channel, 1, constant_values=black) for channel, black in zip(before, (-1, -2), strict=True)]
        )
        fits = [(y, x) for y in range(3) for x in range(3) if (wide[:, y : y + 6, x : x + 6] == after).all()]
        assert len(fits) == 1
        moves.add(fits[0])
    assert len(moves) == 9


def test_a_flip_mirrors_a_share() -> None:
    given = images(1000)
    found = flip(given, 0.3, chance())
    mirrored = [(after == before[:, :, ::-1]).all() for before, after in zip(given, found, strict=True)]
    same = [(after == before).all() for before, after in zip(given, found, strict=True)]
    assert all(a != b for a, b in zip(mirrored, same, strict=True)) and 0.25 < np.mean(mirrored) < 0.35
    assert (flip(given, 0.0, chance()) == given).all()


def test_erasing_takes_one_rectangle_of_a_share() -> None:
    given = images(2000, size=10)
    found = erase(given, 0.5, chance())
    areas = []
    for before, after in zip(given[:, 0], found[:, 0], strict=True):
        gone = after == 0
        assert (after[~gone] == before[~gone]).all()
        if gone.any():
            rows, columns = np.flatnonzero(gone.any(1)), np.flatnonzero(gone.any(0))
            assert gone.sum() == (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
            areas.append(gone.mean())
    assert 0.45 < len(areas) / 2000 < 0.55
    assert min(areas) >= 0.01 and max(areas) <= 0.45 and 0.17 < np.mean(areas) < 0.25  # (0.02 + 0.4) / 2
    assert (erase(given, 0.0, chance()) == given).all()


def test_mixing_by_the_equation() -> None:
    given, shares = images(50), np.eye(50, dtype=np.float32)
    mixed, classes = mixup(given, shares, 0.4, chance())
    np.testing.assert_allclose(classes.sum(1), 1, rtol=1e-6)
    np.testing.assert_allclose(mixed, np.einsum("ij,jcyx->icyx", classes, given), rtol=1e-5)
    assert (np.count_nonzero(classes, axis=1) <= 2).all() and (np.count_nonzero(classes, axis=1) == 2).mean() > 0.8


def test_all_of_it_is_drawn_from_the_generator() -> None:
    how, given = Augmentation(crop=1, flip=0.5, erase=0.5), images()
    one = augmented(how, given, chance(3), BLACK)
    assert (one == augmented(how, given, chance(3), BLACK)).all()
    assert (one != augmented(how, given, chance(4), BLACK)).any()


@pytest.mark.parametrize("how", [Augmentation(crop=1), Augmentation(flip=0.5), Augmentation(erase=0.5)])
def test_each_changes_something_and_nothing_is_done_unasked(how: Augmentation) -> None:
    given = images()
    before = given.copy()
    assert (augmented(how, given, chance(), BLACK) != given).any()
    assert (augmented(Augmentation(), given, chance(), BLACK) == given).all() and (given == before).all()
