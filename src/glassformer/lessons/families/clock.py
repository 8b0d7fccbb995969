"""Comparable times: the candidates take turns, round after round, so that a busy machine slows them all alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from time import perf_counter
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
SHORTEST = 0.004  # seconds: a faster candidate is repeated within a round
MOST = 200


def in_turn(works: Mapping[K, Callable[[], None]], rounds: int) -> dict[K, list[float]]:
    """Milliseconds of each candidate in each round, after one call each to warm up."""
    first = {name: _once(work, 1) for name, work in works.items()}
    repeats = {name: max(1, min(MOST, round(SHORTEST / max(seconds, 1e-7)))) for name, seconds in first.items()}
    found: dict[K, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            found[name].append(1000 * _once(work, repeats[name]))
    return found


def _once(work: Callable[[], None], repeats: int) -> float:
    began = perf_counter()
    for _ in range(repeats):
        work()
    return (perf_counter() - began) / repeats
