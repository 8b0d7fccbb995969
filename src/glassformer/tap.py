"""Observation: the one function through which the mathematics can be watched and changed.

`tap(name, x)` returns x. While an observer is active in this thread, it receives x, and the model continues with what
it returns.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from torch import Tensor


class Selection(NamedTuple):
    """Which heads and rows (queries) of an attention the observer asks for; None: all."""

    heads: list[int] | None = None
    rows: list[int] | None = None


class Observer(Protocol):
    """Receives every tapped tensor."""

    def see(self, name: str, x: Tensor) -> Tensor:
        """Called with every tapped tensor; returns what the model continues with."""
        ...

    def wants(self, name: str) -> bool:
        """Should this tensor be computed just for the observer?"""
        ...

    def edits(self, name: str) -> bool:
        """Will it return a different tensor from the one it received?"""
        ...

    @property
    def selection(self) -> Selection | None: ...


class _Local(threading.local):  # a ContextVar would break torch.compile(fullgraph=True)
    observer: Observer | None = None


_local = _Local()


def tap(name: str, x: Tensor) -> Tensor:
    """Return x; show it first to the observer of this thread, if there is one."""
    present = _local.observer
    return x if present is None else present.see(name, x)


def observer() -> Observer | None:
    """The observer of this thread."""
    return _local.observer


def observed() -> bool:
    """Is there an observer?"""
    return _local.observer is not None


def is_watched(name: str) -> bool:
    """Does the observer want this tensor? A fused kernel computes no weights unless it does."""
    present = _local.observer
    return present is not None and present.wants(name)


def edited(name: str) -> bool:
    """Will the observer change this tensor? Then the result must be computed from it."""
    present = _local.observer
    return present is not None and present.edits(name)


def selection() -> Selection | None:
    """The heads and rows that the observer asks for; None: all."""
    present = _local.observer
    return None if present is None else present.selection


def observe(new: Observer | None) -> Observer | None:
    """Install an observer for this thread (None: remove it) and return the previous one."""
    before, _local.observer = _local.observer, new
    return before


@contextmanager
def unobserved() -> Iterator[None]:
    """Inside, nobody looks."""
    before = observe(None)
    try:
        yield
    finally:
        observe(before)
