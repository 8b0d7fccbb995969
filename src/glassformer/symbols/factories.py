"""How parameters, buffers and positions are created and initialised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from glassformer.symbols.tensor import Symbolic

if TYPE_CHECKING:
    from glassformer.symbols.run import SymbolicRun


def fresh(run: SymbolicRun, *size: Any, dtype: torch.dtype | None = None, **_: Any) -> Symbolic:
    """empty, zeros, ones, rand: how a parameter or a buffer is created."""
    shape = size[0] if len(size) == 1 and isinstance(size[0], Sequence) else size
    return run.new(shape, dtype, given=True)


def fresh_like(run: SymbolicRun, x: Symbolic, dtype: torch.dtype | None = None, **_: Any) -> Symbolic:
    return run.new(x.shape, dtype or x.dtype)


def arange(
    run: SymbolicRun, start: int, end: int | None = None, step: int = 1, *, dtype: Any = None, **_: Any
) -> Symbolic:
    start, end = (0, start) if end is None else (start, end)
    count = end - start if step == 1 else (end - start + (step - 1 if (end - start) % step else 0)) // step
    return run.new((count,), dtype or torch.int64)


def tensor(run: SymbolicRun, data: Any, *, dtype: torch.dtype | None = None, **_: Any) -> Symbolic:
    return run.new((len(data),) if isinstance(data, list) else (), dtype)


def as_it_is(run: SymbolicRun, x: Any = None, *_: Any, tensor: Any = None, **__: Any) -> Any:
    """Initialisation: nothing to do, since a symbolic tensor has no numbers."""
    return tensor if x is None else x


def as_tensor(run: SymbolicRun, x: Any, **_: Any) -> Symbolic:
    return x if isinstance(x, Symbolic) else run.new(())


def requires_grad(run: SymbolicRun, x: Symbolic, on: bool = True) -> Symbolic:
    """A parameter: given, not computed, and trained."""
    x.trained, x.storage_.given = on, True
    return x


def set_grad_enabled(run: SymbolicRun, on: bool) -> None:
    """`torch.no_grad` around an initialisation; it involves no tensors."""
    torch._C._set_grad_enabled(on)


INITIALISATION = ("normal", "uniform", "kaiming_uniform", "zero", "fill")

FACTORIES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(INITIALISATION, as_it_is),
    **dict.fromkeys(("empty", "zeros", "ones", "rand"), fresh),
    **dict.fromkeys(("zeros_like", "ones_like"), fresh_like),
    "arange": arange,
    "tensor": tensor,
    "as_tensor": as_tensor,
    "detach": as_it_is,
    "requires_grad": requires_grad,
    "set_grad_enabled": set_grad_enabled,
}
