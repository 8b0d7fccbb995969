"""Times that can be compared: all works in turn, round after round, so that a busy machine slows them all alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from statistics import median
from time import perf_counter
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
SHORTEST = 0.004  # seconds: what is faster is repeated within a round
MOST = 200


def medians(works: Mapping[K, Callable[[], None]], rounds: int) -> dict[K, float]:
    """Milliseconds of each work: the median over the rounds. Each is done once before, to warm up."""
    times = {name: _once(work, 1) for name, work in works.items()}
    repeats = {name: max(1, min(MOST, round(SHORTEST / max(seconds, 1e-7)))) for name, seconds in times.items()}
    found: dict[K, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            found[name].append(_once(work, repeats[name]))
    return {name: 1000 * median(seconds) for name, seconds in found.items()}


def _once(work: Callable[[], None], repeats: int) -> float:
    began = perf_counter()
    for _ in range(repeats):
        work()
    return (perf_counter() - began) / repeats
