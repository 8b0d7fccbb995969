"""The whole seam between the mathematics and whoever wants to look at it.

`tap(name, x)` returns x. While an observer is active in this thread, it sees x under that name and says what the model
goes on with.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from torch import Tensor


class Selection(NamedTuple):
    """Which heads and which rows (queries) of an attention somebody asks for; None: all."""

    heads: list[int] | None = None
    rows: list[int] | None = None


class Observer(Protocol):
    """Whoever looks."""

    def see(self, name: str, x: Tensor) -> Tensor:
        """Called with every tapped tensor; returns what the model goes on with."""
        ...

    def wants(self, name: str) -> bool:
        """Is it worth computing this tensor for the observer alone?"""
        ...

    def edits(self, name: str) -> bool:
        """Will another tensor come back than was given?"""
        ...

    @property
    def selection(self) -> Selection | None: ...


class _Local(threading.local):  # a ContextVar would break torch.compile(fullgraph=True)
    observer: Observer | None = None


_local = _Local()


def tap(name: str, x: Tensor) -> Tensor:
    """Return x; show it first to the observer of this thread, if there is one."""
    observer = _local.observer
    return x if observer is None else observer.see(name, x)


def observed() -> bool:
    """Does anyone look at all?"""
    return _local.observer is not None


def watched(name: str) -> bool:
    """Does anyone want this tensor? A fused kernel computes no weights unless somebody does."""
    observer = _local.observer
    return observer is not None and observer.wants(name)


def edited(name: str) -> bool:
    """Will anyone change this tensor? Then it must be the one that the answer is computed from."""
    observer = _local.observer
    return observer is not None and observer.edits(name)


def selection() -> Selection | None:
    """The heads and rows that are asked for, where not all are."""
    observer = _local.observer
    return None if observer is None else observer.selection


def observe(observer: Observer | None) -> Observer | None:
    """Install an observer for this thread (None: nobody looks) and return the one before it."""
    before, _local.observer = _local.observer, observer
    return before
