"""How a sentence is chosen: at random from a seed and an index, or every one in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")


class Chooser(Protocol):
    """Makes each decision on the way to a sentence."""

    def pick(self, options: Sequence[T]) -> T: ...

    def weigh(self, options: Sequence[tuple[T, float]]) -> T: ...

    def chance(self, probability: float) -> bool: ...


class Drawn:
    """Random decisions, the same on every machine for the same key."""

    def __init__(self, key: str) -> None:
        self.random = Random(key).random  # strings are hashed with SHA-512, the same in every process

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]

    def weigh(self, options: Sequence[tuple[T, float]]) -> T:
        total = 0.0
        for _, weight in options:
            total += weight
        left = self.random() * total
        for option, weight in options:
            left -= weight
            if left < 0:
                return option
        return options[-1][0]

    def chance(self, probability: float) -> bool:
        return self.random() < probability


class Replayed:
    """Takes the decisions of a given path, then the first option at every later fork."""

    def __init__(self, path: list[int]) -> None:
        self.path = path
        self.widths: list[int] = []

    def _next(self, width: int) -> int:
        place = len(self.widths)
        self.widths.append(width)
        if place == len(self.path):
            self.path.append(0)
        return self.path[place]

    def pick(self, options: Sequence[T]) -> T:
        return options[self._next(len(options))]

    def weigh(self, options: Sequence[tuple[T, float]]) -> T:
        possible = [option for option, weight in options if weight > 0]
        return possible[self._next(len(possible))]

    def chance(self, probability: float) -> bool:
        if probability <= 0:
            return False
        return bool(self._next(2))


def every(compose: Callable[[Chooser], T]) -> Iterator[T]:
    """The results of `compose` for every sequence of decisions; the last decision changes fastest."""
    path: list[int] = []
    while True:
        chooser = Replayed(path)
        yield compose(chooser)
        path = chooser.path[: len(chooser.widths)]
        while path and path[-1] == chooser.widths[len(path) - 1] - 1:
            path.pop()
        if not path:
            return
        path[-1] += 1
