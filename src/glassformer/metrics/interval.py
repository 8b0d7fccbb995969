"""A proportion, k right of n, with Wilson's interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from glassformer.errors import InputError

Z = 1.959963984540054  # 95 % of a normal distribution lie within ± Z standard deviations


@dataclass(frozen=True)
class Proportion:
    """A share with the ends of its 95 % interval."""

    value: float
    low: float
    high: float
    hits: int
    total: int


def wilson(hits: int, total: int) -> Proportion:
    r"""Wilson's score interval (1927) of a binomial proportion.

        centre = (p + z²/2n) / (1 + z²/n)     half = z √(p(1-p)/n + z²/4n²) / (1 + z²/n)

    Unlike p ± z √(p(1-p)/n) it is right at the ends: 50 of 50 is not "100 % for certain", but 92.9 % to 100 %.
    """
    if total <= 0:
        raise InputError("metric_nothing", metric="wilson")
    p, scale = hits / total, 1 + Z**2 / total
    centre = (p + Z**2 / (2 * total)) / scale
    half = Z * sqrt(p * (1 - p) / total + Z**2 / (4 * total**2)) / scale
    low = 0.0 if hits == 0 else centre - half
    high = 1.0 if hits == total else centre + half
    return Proportion(p, low, high, hits, total)
