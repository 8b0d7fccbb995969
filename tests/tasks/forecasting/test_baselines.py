from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from glassformer.data.examples import Windows
from glassformer.errors import FileError
from glassformer.tasks.forecasting.baselines import (
    Baselines,
    LinearForecaster,
    Statistics,
    moving_average,
    persistence,
    pieces,
    seasonal,
)


def windows(values: np.ndarray, context: int = 30, horizon: int = 4) -> Windows:
    return Windows(values.astype(np.float32), np.arange(len(values) - context - horizon + 1), (context, horizon), 1)


def noisy(count: int, seed: int = 0) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).standard_normal(count)) / 10


def test_persistence_and_the_season_by_hand() -> None:
    past = np.array([[1.0, 2.0, 3.0, 4.0]])
    assert persistence(past, 3).tolist() == [[4.0, 4.0, 4.0]]
    assert seasonal(past, 5, 2).tolist() == [[3.0, 4.0, 3.0, 4.0, 3.0]]
    assert seasonal(past, 2, 1).tolist() == persistence(past, 2).tolist()


def test_the_moving_average_is_that_of_dlinear() -> None:
    """Zeng et al.: AvgPool1d(25, stride 1) of the series with its ends repeated twelve times."""
    x = torch.from_numpy(noisy(40))[None, None]
    padded = torch.cat([x[..., :1].repeat(1, 1, 12), x, x[..., -1:].repeat(1, 1, 12)], -1)
    expected = torch.nn.functional.avg_pool1d(padded, 25, stride=1)[0]
    np.testing.assert_allclose(x[0].numpy() @ moving_average(40), expected.numpy(), atol=1e-12)


@pytest.mark.parametrize("from_last", [False, True])
def test_a_linear_series_is_learned_exactly(from_last: bool) -> None:
    t = np.arange(400)
    values = np.sin(2 * np.pi * t / 12)  # y_{t+1} = 2 cos(2π/12) y_t − y_{t−1}: linear in its past
    found = LinearForecaster.fit(windows(values[:300]), windows(values[270:]), from_last=from_last)
    assert found.error(windows(values[270:])) < 1e-9


@pytest.mark.parametrize("from_last", [False, True])
def test_the_solution_is_that_of_ridge_regression(from_last: bool) -> None:
    """The normal equations of the two maps of DLinear, written out: features (A x, x − A x), bias not shrunk."""
    some = windows(noisy(200), context=8, horizon=2)
    found = LinearForecaster.fit(some, windows(noisy(60, 1), context=8, horizon=2), from_last=from_last)
    past, future = (np.concatenate(each) for each in zip(*pieces(some), strict=True))
    centre = past[:, -1:] if from_last else 0.0
    x, y = past - centre, future - centre
    average = moving_average(8)
    features = x if from_last else np.hstack([x @ average, x - x @ average])
    centred = features - features.mean(0)
    gram = centred.T @ centred / len(x)
    unit = np.trace(gram) / 8  # the mean eigenvalue: the features of DLinear have no more than 8 that are not 0
    solution = np.linalg.solve(gram + found.ridge * unit * np.eye(len(gram)), centred.T @ (y - y.mean(0)) / len(x))
    expected = centre + y.mean(0) + centred @ solution
    np.testing.assert_allclose(found(past), expected, atol=1e-6)


@pytest.mark.parametrize("from_last", [False, True])
def test_statistics_know_the_error_on_their_windows(from_last: bool) -> None:
    """Without reading the windows again: the same as from every forecast, also for a map of other windows."""
    found = LinearForecaster.fit(windows(noisy(200)), None, from_last=from_last)
    other = windows(3 + noisy(90, 1))
    known = Statistics.of(other, from_last).error(found.weight, found.bias)
    assert known == pytest.approx(found.error(other), rel=1e-9)


def test_validation_chooses_the_ridge() -> None:
    noise = np.random.default_rng(0).standard_normal(120)
    few = LinearForecaster.fit(windows(noise[:80]), windows(noise[80:]), from_last=False)
    assert few.ridge >= 0.1  # nothing to learn: the strongest shrink wins
    assert LinearForecaster.fit(windows(noise), None, from_last=False).ridge == 1e-3


def test_they_are_kept_and_found_again(tmp_path: Path) -> None:
    some = windows(noisy(200))
    made = Baselines.fit(some, None, season=7)
    assert list(made.every) == ["persistence", "seasonal", "dlinear", "nlinear"]
    made.save(tmp_path)
    again = Baselines.open(tmp_path, season=1)
    assert list(again.every) == ["persistence", "dlinear", "nlinear"] and again.horizon == 4
    past = next(pieces(some))[0]
    for name in again.every:
        assert (again.every[name](past) == made.every[name](past)).all()


@pytest.mark.parametrize("content", [b"", b"no tensors"])
def test_a_broken_file_is_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "linear.safetensors").write_bytes(content)
    with pytest.raises(FileError, match=r"linear.safetensors is not a file of linear maps; train again"):
        Baselines.open(tmp_path, season=1)
