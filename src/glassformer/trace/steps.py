"""The steps of a pass on real numbers: which function was called on what, by which module, and how it is shown.

The same `Step` as in symbols, recorded while the model computes, so that labels say what was really computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glassformer.symbols.rules import called
from glassformer.symbols.run import Step
from glassformer.trace.watch import NamedObserver, watching


class Tapped(NamedTuple):
    """A tapped tensor, its name (with #2 the second time in a pass), and its module."""

    name: str
    path: str
    tap: str
    x: Tensor


@dataclass
class Steps:
    """One pass: its steps, the tapped tensors, and the input and output of each module."""

    every: list[Step] = field(default_factory=list)
    taps: list[Tapped] = field(default_factory=list)
    made: dict[int, Step] = field(default_factory=dict)  # id of a tensor → the step that made it
    through: dict[int, tuple[str, Any]] = field(default_factory=dict)  # id of a module's output → its path and input

    def of(self, x: Tensor) -> Step | None:
        return self.made.get(id(x))


class _Calls(TorchFunctionMode):
    """Lets torch compute, and records each call."""

    def __init__(self, steps: Steps, watcher: _Taps) -> None:
        super().__init__()
        self.steps, self.watcher = steps, watcher

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        found = [x for x in (result if isinstance(result, tuple | list) else [result]) if isinstance(x, Tensor)]
        if found:
            step = Step(called(function), (*args, *(kwargs or {}).values()), result, self.watcher.path)
            self.steps.every.append(step)  # keeps its tensors alive, so that their ids are not reused
            for x in found:
                self.steps.made.setdefault(id(x), step)
        return result


class _Taps(NamedObserver):
    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self.steps, self._seen = steps, Counter[str]()

    @property
    def path(self) -> str:
        return (self._path[-1] if self._path else "") or ""

    def meet(self, name: str, x: Tensor) -> Tensor:
        self._seen[name] += 1
        shown = name if self._seen[name] == 1 else f"{name}#{self._seen[name]}"
        self.steps.taps.append(Tapped(shown, self.path, name.rpartition(".")[2], x))
        step = self.steps.of(x)
        if step is not None:
            step.tap = name.rpartition(".")[2]
        return x


@contextmanager
def stepping(model: nn.Module) -> Iterator[Steps]:
    """Every pass of the model inside the `with` is recorded step by step."""
    steps = Steps()
    taps = _Taps(steps)
    handles = []
    for path, module in model.named_modules():

        def leave(_: nn.Module, given: Any, left: Any, path: str = path) -> None:
            steps.through.setdefault(id(left), (path, given))

        handles.append(module.register_forward_hook(leave))
    try:
        with watching(model, taps), _Calls(steps, taps):
            yield steps
    finally:
        for handle in handles:
            handle.remove()
