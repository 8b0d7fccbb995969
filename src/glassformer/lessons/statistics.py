"""The result of several seeds: a mean with its 95 % interval (Student 1908)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, sqrt
from statistics import fmean, stdev
from typing import Any

LEVEL = 0.95  # confidence level of every interval
# 97.5 % quantile of t for 1, 2, 3 … degrees of freedom; from 30 on the normal distribution is close enough
STUDENT = """
12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131
2.120 2.110 2.101 2.093 2.086 2.080 2.074 2.069 2.064 2.060 2.056 2.052 2.048 2.045
"""
NORMAL = 1.960
Seeds = Sequence[float] | Mapping[str, Any]  # the values of the seeds, or their interval


def interval(values: Sequence[float]) -> dict[str, Any]:
    r"""The mean of n seeds with its 95 % interval, as JSON.

        x̄ ± t_{n−1} · s / √n

    One value has no spread: its interval is the value itself, with `n` 1. If a value is not finite (a run diverged),
    mean, low and high are None.
    """
    n = len(values)
    if not all(map(isfinite, values)):
        return {"mean": None, "low": None, "high": None, "n": n, "values": [v if isfinite(v) else None for v in values]}
    mean = fmean(values)
    half = _student(n - 1) * stdev(values) / sqrt(n) if n > 1 else 0.0
    return {"mean": mean, "low": mean - half, "high": mean + half, "n": n, "values": list(values)}


def share(values: Sequence[float]) -> dict[str, Any]:
    """The interval of a share, cut to 0 … 1."""
    return within_one(interval(values))


def within_one(found: Mapping[str, Any]) -> dict[str, Any]:
    """An interval cut to 0 … 1: a share cannot lie outside."""
    if found["low"] is None:
        return dict(found)
    return {**found, "low": max(0.0, found["low"]), "high": min(1.0, found["high"])}


def _student(freedom: int) -> float:
    known = STUDENT.split()
    return float(known[freedom - 1]) if freedom <= len(known) else NORMAL


def difference(first: Seeds, second: Seeds) -> dict[str, Any]:
    """first − second, pair by pair: the same seed gives both the same data, so common effects cancel out."""
    return interval([a - b for a, b in zip(_values(first), _values(second), strict=True)])


def differences(first: Mapping[str, Seeds], second: Mapping[str, Seeds], names: Iterable[str]) -> dict[str, Any]:
    """first − second for several measures."""
    return {name: difference(first[name], second[name]) for name in names}


def _values(seeds: Seeds) -> Sequence[float]:
    values: Sequence[float] = seeds["values"] if isinstance(seeds, Mapping) else seeds
    return values


def above(effect: dict[str, Any], bound: float = 0.0) -> bool:
    """Whether the whole interval lies above a bound."""
    return effect["low"] is not None and effect["low"] > bound
