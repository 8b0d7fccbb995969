"""How much smaller the error of one forecast is than that of another, and how sure that is: a bootstrap over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from glassformer.errors import InputError

DRAWS = 2000
BLOCKS = 50  # at most: more blocks are shorter ones, and neighbours would be alike


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
    r"""Of errors of the same windows, at their places in time:   1 − Σ errors / Σ others.

    Windows that overlap are no independent witnesses, nor are two series on the same day. So time is cut into at most
    50 blocks, none shorter than `shortest` places (the horizon), and blocks are drawn, each with all that is in it.
    With fewer than two blocks nothing can be said: the interval has no ends.
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
