"""Record one pass: every tapped tensor under the path of the module that made it. The result does not change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from glassformer.errors import InputError, suggest
from glassformer.tap import observe, observer


class Trace:
    """What one pass left behind, by name: `trace["encoder.blocks.0.self_attention.scores"]`."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._path: list[str] = []

    # --- for the model: the Observer of tap.py ---

    def see(self, name: str, x: Tensor) -> Tensor:
        if not self._path:  # outside of the module that is recorded
            return x
        path = self._path[-1]
        self.tensors[f"{path}.{name}" if path else name] = x.detach()
        return x

    def wants(self, name: str) -> bool:
        return bool(self._path)

    # --- for people ---

    def names(self) -> list[str]:
        """Every recorded name, in the order of the pass."""
        return list(self.tensors)

    def __getitem__(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise InputError("no_such_tap", name=name, hint=suggest(name, self.tensors))
        return self.tensors[name]

    def __len__(self) -> int:
        return len(self.tensors)

    def attention(self, kind: str = "self_attention") -> list[Tensor]:
        """One map b h t s for each layer; `.mean(1)` averages the heads. `kind="cross_attention"` for the memory's."""
        wanted = (f"{kind}.weights", "weights")  # the second: an attention that was recorded by itself
        return [x for name, x in self.tensors.items() if ".".join(name.split(".")[-2:]) in wanted]


@contextmanager
def record(model: nn.Module) -> Iterator[Trace]:
    """Record every pass of the model inside the `with`; a second pass overwrites the first."""
    trace = Trace()

    def enter(path: str) -> Any:
        def push(module: nn.Module, inputs: Any) -> None:
            if observer() is trace:  # a pass in another thread runs through the same hooks
                trace._path.append(path)

        return push

    def leave(module: nn.Module, inputs: Any, output: Any) -> None:
        if observer() is trace:
            trace._path.pop()

    handles = []
    for path, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(enter(path)))
        handles.append(module.register_forward_hook(leave, always_call=True))
    before = observe(trace)
    try:
        yield trace
    finally:
        observe(before)
        for handle in handles:
            handle.remove()
