"""Watching a model: which module is running, and every tapped tensor under its full name."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.tap import Observer, Selection, observe, observer


class NamedObserver:
    """An observer that knows full names: `decoder.blocks.3.self_attention.scores`.

    Watchers nest: the inner one sees a tensor first, the outer one sees what the inner one returned.
    """

    def __init__(self) -> None:
        self._path: list[str | None] = []  # None: inside a module that is skipped
        self._thread = threading.get_ident()
        self._outer: Observer | None = None
        self._away = False
        self.whole = False  # whether the present pass is one of the whole model, and not of a part by itself

    def meet(self, name: str, x: Tensor) -> Tensor:
        """What this watcher does with a tensor; the model continues with what is returned."""
        return x

    def asks(self, name: str) -> bool:
        """Whether it wants this tensor. A fused kernel computes scores and weights only on request."""
        return True

    def passes_over(self, path: str) -> bool:
        """Whether this module and everything in it can be skipped."""
        return False

    def is_silent(self, module: nn.Module) -> bool:
        """Whether this module itself taps nothing; torch's own never do."""
        return type(module).__module__.startswith("torch.")

    def follows(self, path: str, module: nn.Module) -> bool:
        """Whether it wants anything that this module taps; if not, it sees nothing of it."""
        return True

    def begin(self) -> None:
        """A new pass of the whole model begins."""

    def changes(self, name: str) -> bool:
        """Whether it will return a different tensor."""
        return False

    # --- the Observer of tap.py ---

    def see(self, name: str, x: Tensor) -> Tensor:
        if self.inside:
            x = self.meet(self._full(name), x)
        return x if self._outer is None else self._outer.see(name, x)

    def wants(self, name: str) -> bool:
        mine = self.inside and self.asks(self._full(name))
        return mine or (self._outer is not None and self._outer.wants(name))

    def edits(self, name: str) -> bool:
        mine = self.inside and self.changes(self._full(name))
        return mine or (self._outer is not None and self._outer.edits(name))

    @property
    def selection(self) -> Selection | None:
        return None

    @property
    def inside(self) -> bool:
        """Whether the running module is being watched."""
        return bool(self._path) and self._path[-1] is not None

    def _full(self, name: str) -> str:
        return f"{self._path[-1]}.{name}" if self._path[-1] else name

    # --- for the hooks ---

    def enter(self, path: str | None, whole: bool) -> None:
        """Into a module; None: into one that is not followed. `whole`: it is the whole model."""
        if threading.get_ident() != self._thread:  # a pass in another thread runs through the same hooks
            return
        self._path.append(path)
        if len(self._path) == 1:
            self.whole = whole
            if whole:
                self.begin()
        self._come_or_go()

    def leave(self) -> None:
        if threading.get_ident() == self._thread and self._path:
            self._path.pop()
            self._come_or_go()

    def _come_or_go(self) -> None:
        """In a module that is not followed nobody looks, so that the model is as fast as ever; where watchers nest,
        another may look.
        """
        away = bool(self._path) and self._path[-1] is None
        if away and not self._away and self._outer is None and observer() is self:
            observe(None)
            self._away = True
        elif self._away and not away:
            observe(self)
            self._away = False


@contextmanager
def watching(model: nn.Module, watcher: NamedObserver) -> Iterator[None]:
    """The watcher sees every pass of the model inside the `with`. A compiled model runs eagerly."""
    handles = []
    for path, module in _modules(model, watcher):
        enter = partial(watcher.enter, path, module is model)
        handles.append(module.register_forward_pre_hook(lambda *_, enter=enter: enter()))
        handles.append(module.register_forward_hook(lambda *_: watcher.leave(), always_call=True))
    watcher._outer = observe(watcher)
    try:
        with _eager():
            yield
    finally:
        observe(watcher._outer)
        for handle in handles:
            handle.remove()


def _modules(
    module: nn.Module, watcher: NamedObserver, path: str = "", inside: bool = False
) -> list[tuple[str | None, nn.Module]]:
    """The modules that are followed, with their paths, and without a path those that begin what is not: the model
    itself, and any module in a followed one (`inside`).

    An accelerator waits while they are looked for and get their hooks; so none gets one that needs none.
    """
    if path and watcher.passes_over(path):
        return [(None, module)] if inside else []
    found: list[tuple[str | None, nn.Module]] = []
    if not path or not watcher.is_silent(module):
        followed = watcher.follows(path, module)
        if followed or inside or not path:
            found.append((path if followed else None, module))
        inside = followed
    for name, child in module.named_children():
        found += _modules(child, watcher, f"{path}.{name}" if path else name, inside)
    return found


def _eager() -> Any:
    """Compiled graphs call no Python, so they cannot be watched. If nothing was compiled, dynamo is not loaded."""
    return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()
