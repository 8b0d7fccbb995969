"""Who is told how far the preparation of data has come: the command line shows it, a program in Python need not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
OFTEN = 2**14  # items between two reports

# (what is being done, a key of `prepared.doing` in words/; how much of it is done; of how much, None: unknown)
PreparationProgress = Callable[[str, int, int | None], None]


def _unseen(doing: str, done: int, total: int | None) -> None:
    """Nobody looks."""


_TOLD: ContextVar[PreparationProgress] = ContextVar("told", default=_unseen)


@contextmanager
def watched(told: PreparationProgress) -> Iterator[None]:
    """Inside this block `told` is called while data are prepared, some times a second at most."""
    before = _TOLD.set(told)
    try:
        yield
    finally:
        _TOLD.reset(before)


def tell(doing: str, done: int, total: int | None = None) -> None:
    """Report to whoever watches."""
    _TOLD.get()(doing, done, total)


def told(items: Iterable[T], doing: str, total: int) -> Iterator[T]:
    """The items, and a report now and then."""
    for count, item in enumerate(items):
        if not count % OFTEN:
            tell(doing, count, total)
        yield item
