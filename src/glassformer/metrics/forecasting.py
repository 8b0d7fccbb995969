"""How far off a forecast is: MAE, MSE, MASE, direction, and how certain it is that it beats another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glassformer.errors import InputError
from glassformer.metrics.interval import Proportion, wilson


def mse(forecast: ArrayLike, actual: ArrayLike) -> float:
    """Mean squared error over all values of all windows, whatever their shape."""
    first, second = _pair("mse", forecast, actual)
    return float(((first - second) ** 2).mean())


def mae(forecast: ArrayLike, actual: ArrayLike) -> float:
    """Mean absolute error."""
    first, second = _pair("mae", forecast, actual)
    return float(np.abs(first - second).mean())


def mase(forecast: ArrayLike, actual: ArrayLike, history: ArrayLike, season: int = 1) -> float:
    r"""Mean absolute scaled error (Hyndman & Koehler 2006) of one series.

        MASE = mean |forecast - actual| / mean |y_t - y_{t-season}| over the history

    The history is the training part, never the test part. Below 1 is better than repeating the value of a season ago.
    """
    error = mae(forecast, actual)
    past = np.asarray(history, dtype=np.float64)
    steps = np.abs(past[season:] - past[:-season]) if 0 < season < len(past) else np.zeros(0)
    if not np.isfinite(past).all():
        raise InputError("metric_not_finite", metric="mase")
    if not steps.size or not steps.any():
        raise InputError("metric_history", length=len(past), season=season)
    return float(error / steps.mean())


def direction(forecast: ArrayLike, actual: ArrayLike, last: ArrayLike) -> Proportion:
    """How often the forecast moves in the direction of the series, from the last known value; 0.5 is a coin toss.

    A value that does not move has no direction and is not counted; a forecast of "no change" where the series moves is
    wrong, so persistence has 0.
    """
    first, second = _pair("direction", forecast, actual)
    known = np.broadcast_to(np.asarray(last, dtype=np.float64), first.shape)
    moved = second != known
    hits = np.sign(first - known)[moved] == np.sign(second - known)[moved]
    if not hits.size:
        raise InputError("metric_nothing", metric="direction")
    return wilson(int(hits.sum()), int(hits.size))


def _pair(metric: str, forecast: ArrayLike, actual: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = np.asarray(forecast, dtype=np.float64), np.asarray(actual, dtype=np.float64)
    if first.shape != second.shape:
        raise InputError("metric_shapes", metric=metric, first=first.shape, second=second.shape)
    if not first.size:
        raise InputError("metric_nothing", metric=metric)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise InputError("metric_not_finite", metric=metric)
    return first, second


DRAWS = 2000
BLOCKS = 50  # at most: more blocks would be shorter, and neighbours too similar


@dataclass(frozen=True)
class Gain:
    """1 − error / error of the other, with the ends of its 95 % interval; above 0 is better."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """ "better" or "worse" if the whole interval says so, else "same"."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "same"


def gain(errors: ArrayLike, others: ArrayLike, at: ArrayLike, shortest: int = 1) -> Gain:
    r"""The gain from errors of the same windows, at their places in time:   1 − Σ errors / Σ others.

    Overlapping windows are not independent, nor are two series on the same day. So time is cut into at most 50 blocks,
    none shorter than `shortest` places (the horizon), and whole blocks are resampled. With fewer than two blocks there
    is no interval.
    """
    first, second, places = (np.asarray(each, dtype=np.float64) for each in (errors, others, at))
    if not first.size or first.shape != second.shape or first.shape != places.shape:
        raise InputError("metric_shapes", metric="gain", first=first.shape, second=second.shape)
    if not second.sum() > 0:
        raise InputError("metric_nothing", metric="gain")
    value = float(1 - first.sum() / second.sum())
    moments, which = np.unique(places, return_inverse=True)
    count = min(BLOCKS, len(moments) // max(shortest, 1))
    if count < 2:
        return Gain(value, -np.inf, np.inf)
    block = which * count // len(moments)
    ours, theirs = (np.bincount(block, each, minlength=count) for each in (first, second))
    drawn = np.random.default_rng(0).integers(count, size=(DRAWS, count))
    below = theirs[drawn].sum(1)
    gains = 1 - ours[drawn].sum(1)[below > 0] / below[below > 0]
    low, high = np.quantile(gains, (0.025, 0.975))
    return Gain(value, float(low), float(high))
