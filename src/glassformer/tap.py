"""The whole seam between the mathematics and whoever wants to look at it.

`tap(name, x)` returns x. While a recorder is active in this thread, the recorder sees x under that name.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor


class Observer(Protocol):
    """Whoever looks: sees every tapped tensor and returns what the model shall go on with."""

    def see(self, name: str, x: Tensor) -> Tensor: ...

    def wants(self, name: str) -> bool: ...


class _Local(threading.local):  # a ContextVar would break torch.compile(fullgraph=True)
    observer: Observer | None = None


_local = _Local()


def tap(name: str, x: Tensor) -> Tensor:
    """Return x; show it first to the observer of this thread, if there is one."""
    observer = _local.observer
    return x if observer is None else observer.see(name, x)


def watched(name: str) -> bool:
    """Does anyone want this tensor? A fused kernel computes no weights unless somebody does."""
    observer = _local.observer
    return observer is not None and observer.wants(name)


def observer() -> Observer | None:
    """Who looks at this thread."""
    return _local.observer


def observe(observer: Observer | None) -> Observer | None:
    """Install an observer for this thread (None: nobody looks) and return the one before it."""
    before, _local.observer = _local.observer, observer
    return before
