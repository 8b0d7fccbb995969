"""Baselines for a forecaster: the last value, the value a season ago, linear maps (Zeng et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save

from glassformer.data.examples import Windows
from glassformer.data.panel import Numbers
from glassformer.errors import FileError
from glassformer.files import write_bytes

FILE = "linear.safetensors"
KERNEL = 25  # window of DLinear's moving average
RIDGES = 10.0 ** np.arange(-9, 2)  # relative to the mean eigenvalue; validation chooses one
PIECE = 8192  # windows at a time


def persistence(past: Numbers, horizon: int) -> Numbers:
    """Repeat the last value."""
    return np.repeat(past[:, -1:], horizon, axis=1)


def seasonal(past: Numbers, horizon: int, season: int) -> Numbers:
    """Repeat the last season: for hours, the same hour of yesterday."""
    return past[:, -season:][:, np.arange(horizon) % season]


@dataclass(frozen=True)
class Statistics:
    """Means of x and y and of their products about them: all that the squared error of a linear map depends on.

    So validation windows are read once, and not once for every λ.
    """

    gram: Numbers  # XᵀX / n, context × context
    cross: Numbers  # XᵀY / n, context × horizon
    spread: float  # |Y|² / n
    x_mean: Numbers
    y_mean: Numbers

    @classmethod
    def of(cls, windows: Windows, from_last: bool) -> Statistics:
        context, horizon = windows.sizes
        gram, cross = np.zeros((context, context)), np.zeros((context, horizon))
        x_sum, y_sum, squares, count = np.zeros(context), np.zeros(horizon), 0.0, len(windows)
        for past, future in pieces(windows):
            centre = past[:, -1:] if from_last else 0.0
            x, y = past - centre, future - centre
            gram += x.T @ x
            cross += x.T @ y
            squares += float((y * y).sum())
            x_sum += x.sum(0)
            y_sum += y.sum(0)
        x_mean, y_mean = x_sum / count, y_sum / count
        gram, cross = gram / count - np.outer(x_mean, x_mean), cross / count - np.outer(x_mean, y_mean)
        return cls(gram, cross, squares / count - float(y_mean @ y_mean), x_mean, y_mean)

    def error(self, weight: Numbers, bias: Numbers) -> float:
        r"""Σ |y − x W − b|² / (n · horizon) = (|Y|²/n − 2 tr Wᵀ XᵀY/n + tr Wᵀ (XᵀX/n) W + |ȳ − x̄ W − b|²) / horizon."""
        rest = self.y_mean - self.x_mean @ weight - bias
        total = self.spread + (weight * (self.gram @ weight - 2 * self.cross)).sum() + rest @ rest
        return float(total / len(bias))


@dataclass(frozen=True)
class LinearForecaster:
    r"""A linear map from the past to the future:   ŷ = c + (x − c) W + b,   c the last value (NLinear) or 0 (DLinear).

    DLinear splits x into a moving average x A and the rest, each with a map of its own. Both maps act on x, so
    together they are one, W = A W_trend + (I − A) W_rest; the split only decides which W the ridge prefers.
    Differs from Zeng et al.: not trained step by step but solved exactly, as least squares with a ridge on the maps.
    """

    weight: Numbers  # context × horizon
    bias: Numbers  # horizon
    from_last: bool
    ridge: float

    def __call__(self, past: Numbers) -> Numbers:
        centre = past[:, -1:] if self.from_last else 0.0
        return centre + (past - centre) @ self.weight + self.bias

    @classmethod
    def fit(cls, training: Windows, validation: Windows | None, *, from_last: bool) -> LinearForecaster:
        r"""W = argmin Σ |y − x W − b|² + λ n · penalty, λ chosen by the error on the validation windows.

        With P = R Rᵀ the penalty is tr(Wᵀ P⁻¹ W); in V = R⁻¹ W it is |V|², and one eigendecomposition of Rᵀ G R
        serves every λ. P = I for NLinear and A Aᵀ + (I − A)(I − A)ᵀ for DLinear.
        """
        context = training.sizes[0]
        of = Statistics.of(training, from_last)
        average = moving_average(context)
        rest = np.eye(context) - average
        root = np.eye(context) if from_last else np.linalg.cholesky(average @ average.T + rest @ rest.T)
        values, vectors = np.linalg.eigh(root.T @ of.gram @ root)
        turned = vectors.T @ root.T @ of.cross  # context × horizon
        unit = max(float(values.mean()), 1e-12)

        def solved(ridge: float) -> LinearForecaster:
            weight = root @ vectors @ (turned / (np.maximum(values, 0.0) + ridge * unit)[:, None])
            return cls(weight, of.y_mean - of.x_mean @ weight, from_last, ridge)

        if validation is None or not len(validation):
            return solved(1e-3)
        judge = Statistics.of(validation, from_last)
        return min((solved(float(ridge)) for ridge in RIDGES), key=lambda one: judge.error(one.weight, one.bias))

    def error(self, windows: Windows) -> float:
        """Mean squared error."""
        sums = [((self(past) - future) ** 2).sum() for past, future in pieces(windows)]
        return float(sum(sums) / (len(windows) * windows.sizes[1]))


def moving_average(context: int) -> Numbers:
    """x A is the mean of the 25 values around each; beyond the ends, the first and the last value are repeated."""
    matrix = np.zeros((context, context))
    for shift in range(-(KERNEL // 2), KERNEL // 2 + 1):
        matrix[np.arange(context), np.clip(np.arange(context) + shift, 0, context - 1)] += 1 / KERNEL
    return matrix.T


def pieces(windows: Windows) -> Iterator[tuple[Numbers, Numbers]]:
    """(past, future) of PIECE windows at a time, n × context and n × horizon."""
    context, horizon = windows.sizes
    every = np.lib.stride_tricks.sliding_window_view(windows.values, context + horizon)
    for first in range(0, len(windows), PIECE):
        some = every[windows.starts[first : first + PIECE]].astype(np.float64)
        yield some[:, :context], some[:, context:]


@dataclass(frozen=True)
class Baselines:
    """All baselines of a forecaster, by name. A season of 1 equals persistence and is not listed again."""

    horizon: int
    season: int
    linear: Mapping[str, LinearForecaster]

    @property
    def every(self) -> dict[str, Callable[[Numbers], Numbers]]:
        """(past, n × context) → (future, n × horizon), in scaled units."""
        found: dict[str, Callable[[Numbers], Numbers]] = {"persistence": lambda past: persistence(past, self.horizon)}
        if self.season > 1:
            found["seasonal"] = lambda past: seasonal(past, self.horizon, self.season)
        return {**found, **self.linear}

    @classmethod
    def fit(cls, training: Windows, validation: Windows | None, season: int) -> Baselines:
        maps = {
            "dlinear": LinearForecaster.fit(training, validation, from_last=False),
            "nlinear": LinearForecaster.fit(training, validation, from_last=True),
        }
        return cls(training.sizes[1], season, maps)

    def save(self, folder: Path) -> None:
        tensors: dict[str, Numbers] = {}
        for name, one in self.linear.items():
            tensors |= {f"{name}.weight": one.weight, f"{name}.bias": one.bias, f"{name}.ridge": np.array([one.ridge])}
        write_bytes(folder / FILE, save({key: np.ascontiguousarray(value) for key, value in tensors.items()}))

    @classmethod
    def open(cls, folder: Path, season: int) -> Baselines:
        path = folder / FILE
        try:
            tensors = load_file(path)
            maps = {
                name: LinearForecaster(
                    tensors[f"{name}.weight"],
                    tensors[f"{name}.bias"],
                    name == "nlinear",
                    tensors[f"{name}.ridge"].item(),
                )
                for name in ("dlinear", "nlinear")
            }
        except Exception as error:  # safetensors has its own error for a broken file, and a key may be missing
            raise FileError("not_linear", path=path) from error
        return cls(len(maps["dlinear"].bias), season, maps)
