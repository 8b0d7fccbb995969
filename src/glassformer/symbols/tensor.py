"""A tensor without numbers: its shape in symbols, its type, its storage, and whether it is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

META = torch.device("meta")


@dataclass(eq=False, slots=True)
class Storage:
    """A piece of memory. Views share it; what is given (inputs, parameters, buffers) does not count as kept."""

    size: tuple[int, ...]  # bytes, as a product: b×t×d_model×w
    given: bool = False


class Symbolic(torch.Tensor):
    """To a box it behaves like a tensor, but it has no numbers and no memory, and runs no kernel.

    `order`: the axes in memory order, 0 2 1 3 after `transpose(1, 2)`. `dense`: without gaps.
    """

    _shape: tuple[int, ...]
    _dtype: torch.dtype
    storage_: Storage
    trained: bool  # does a gradient go through it?
    order: tuple[int, ...]
    dense: bool
    step: int  # the step that made it; -1: it existed before
    origins: tuple[Symbolic, ...]  # compiled: what it is computed from again, number by number; empty: it is not
    _is_param: bool

    @staticmethod
    def __new__(
        cls,
        shape: Sequence[int],
        dtype: torch.dtype,
        storage: Storage,
        trained: bool,
        order: tuple[int, ...] | None = None,
        dense: bool = True,
    ) -> Symbolic:
        # torch is told that it is empty: with the true size, the number of entries could overflow.
        self: Symbolic = torch.Tensor._make_wrapper_subclass(cls, (), device=META)
        self._shape, self._dtype, self.storage_, self.trained = tuple(shape), dtype, storage, trained
        self.order, self.dense, self.step = tuple(range(len(shape))) if order is None else order, dense, -1
        self.origins = ()
        return self

    # --- what a box reads from a tensor without computing ---

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    device = property(lambda self: META)
    is_meta = property(lambda self: True)
    requires_grad = property(lambda self: self.trained)
    grad_fn = None

    def dim(self) -> int:
        return len(self._shape)

    def size(self, axis: int | None = None) -> Any:
        return self._shape if axis is None else self._shape[axis]

    def numel(self) -> int:
        total = 1
        for size in self._shape:
            total = total * size
        return total

    def is_floating_point(self) -> bool:
        return self._dtype.is_floating_point

    def __repr__(self) -> str:  # type: ignore[override]
        return f"Symbolic({'×'.join(map(_name, self._shape))}, {self._dtype})"

    # --- where it lies ---

    def joins(self, axes: Sequence[int]) -> bool:
        """Can these neighbouring axes be viewed as one without a copy? Axes of size 1 do not matter."""
        large = [axis for axis in axes if not self._is_single(axis)]
        if len(large) < 2:
            return True
        place = [axis for axis in self.order if not self._is_single(axis)]
        first = place.index(large[0])
        return self.dense and place[first : first + len(large)] == large

    def _is_single(self, axis: int) -> bool:
        """Is its size the number 1, and not a symbol whose value happens to be 1?"""
        return type(self._shape[axis]) is int and self._shape[axis] == 1

    @property
    def is_straight(self) -> bool:
        """Is it contiguous: in memory in the order of its shape?"""
        return self.dense and self.order == tuple(range(len(self._shape)))

    def view_of(
        self, shape: Sequence[int], order: tuple[int, ...] | None = None, *, dense: bool | None = None
    ) -> Symbolic:
        """A view of the same memory."""
        dense = self.dense if dense is None else dense
        seen = Symbolic(shape, self._dtype, self.storage_, self.trained, order, dense)
        seen.step, seen.origins = self.step, self.origins
        return seen

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"{function.__name__}: a symbolic tensor is of use inside its own run only")

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise RuntimeError(f"{function}: a symbolic tensor has no numbers")


def _name(size: int) -> str:
    return getattr(size, "written", str(size))
