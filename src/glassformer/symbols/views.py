"""Functions that compute nothing: views of the same memory, and copies in another order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from glassformer.errors import InputError
from glassformer.symbols.size import Dim
from glassformer.symbols.tensor import Symbolic

if TYPE_CHECKING:
    from glassformer.symbols.run import SymbolicRun


def copied(run: SymbolicRun, x: Symbolic, shape: Sequence[int] | None = None) -> Symbolic:
    """A contiguous copy."""
    return run.again(run.new(x.shape if shape is None else shape, x.dtype, trained=x.trained), x)


def promoted(*xs: Symbolic) -> torch.dtype:
    """The common type of several tensors: floating point before integer, integer before boolean."""
    return max((x.dtype for x in xs), key=lambda dtype: (dtype.is_floating_point, dtype != torch.bool, dtype.itemsize))


def permute(run: SymbolicRun, x: Symbolic, *axes: int) -> Symbolic:
    place = {old: new for new, old in enumerate(axes)}
    return x.view_of([x.shape[axis] for axis in axes], tuple(place[axis] for axis in x.order))


def transpose(run: SymbolicRun, x: Symbolic, i: int, j: int) -> Symbolic:
    axes = list(range(x.dim()))
    axes[i], axes[j] = axes[j], axes[i]
    return permute(run, x, *axes)


def unflatten(run: SymbolicRun, x: Symbolic, dim: int, sizes: Sequence[int]) -> Symbolic:
    """One axis becomes several."""
    axis, more = dim % x.dim(), len(sizes) - 1
    shape = (*x.shape[:axis], *sizes, *x.shape[axis + 1 :])
    order: list[int] = []
    for each in x.order:
        order += range(axis, axis + len(sizes)) if each == axis else [each + more if each > axis else each]
    return x.view_of(shape, tuple(order))


def flatten(run: SymbolicRun, x: Symbolic, start: int = 0, end: int = -1) -> Symbolic:
    """Several axes become one: a view if they are adjacent in memory, else a copy."""
    first, last = start % x.dim(), end % x.dim()
    size: int = 1
    for each in x.shape[first : last + 1]:
        size = size * each
    shape = (*x.shape[:first], size, *x.shape[last + 1 :])
    gone = range(first + 1, last + 1)
    if not x.joins(range(first, last + 1)):
        return copied(run, x, shape)
    order = tuple(axis - len(gone) if axis > last else axis for axis in x.order if axis not in gone)
    return x.view_of(shape, order)


def reshape(run: SymbolicRun, x: Symbolic, *shape: Any) -> Symbolic:
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    if [int(size) for size in sizes if size != 1] != [int(size) for size in x.shape if size != 1]:
        raise InputError("no_rule", function="reshape")
    return x if len(sizes) == x.dim() else x.view_of(sizes)


def contiguous(run: SymbolicRun, x: Symbolic) -> Symbolic:
    return x if x.is_straight else copied(run, x)


def expand(run: SymbolicRun, x: Symbolic, *sizes: int) -> Symbolic:
    """Repeat axes of size 1, and new ones in front, without storing the copies."""
    new = len(sizes) - x.dim()
    own = (*sizes[:new], *(old if size == -1 else size for size, old in zip(sizes[new:], x.shape, strict=True)))
    return x.view_of(own, (*range(new), *(axis + new for axis in x.order)), dense=False)


def repeat(run: SymbolicRun, x: Symbolic, *times: int) -> Symbolic:
    shape = (1,) * (len(times) - x.dim()) + x.shape
    return copied(run, x, [size * many for size, many in zip(shape, times, strict=True)])


def repeat_interleave(run: SymbolicRun, x: Symbolic, times: int, dim: int) -> Symbolic:
    return copied(run, x, [size * times if axis == dim else size for axis, size in enumerate(x.shape)])


def cat(run: SymbolicRun, tensors: Sequence[Symbolic], dim: int = 0) -> Symbolic:
    axis, first = dim % tensors[0].dim(), tensors[0]
    size = first.shape[axis]
    for x in tensors[1:]:
        size = size + x.shape[axis]
    named = tensors[-1].shape  # an expanded axis has a plain number
    shape = [size if i == axis else each for i, each in enumerate(named)]
    return run.new(shape, promoted(*tensors), trained=any(x.trained for x in tensors))


def stack(run: SymbolicRun, tensors: Sequence[Symbolic], dim: int = 0) -> Symbolic:
    shape = list(tensors[0].shape)
    shape.insert(dim % (len(shape) + 1), len(tensors))
    return run.new(shape, promoted(*tensors), trained=any(x.trained for x in tensors))


def chunk(run: SymbolicRun, x: Symbolic, chunks: int, dim: int = 0) -> tuple[Symbolic, ...]:
    axis = dim % x.dim()
    shape = [size // chunks if i == axis else size for i, size in enumerate(x.shape)]
    return tuple(x.view_of(shape, x.order, dense=False) for _ in range(chunks))


def unfold(run: SymbolicRun, x: Symbolic, dim: int, size: int, step: int) -> Symbolic:
    """Pieces of a series become its positions; dense if the pieces are adjacent up to the end."""
    whole = x.shape[dim]
    count = Dim("t", (int(whole) - int(size)) // int(step) + 1)
    return x.view_of((*x.shape[:dim], count, size), None, dense=int(whole) == int(step) * int(count) == size * count)


def image_patches(run: SymbolicRun, x: Symbolic, patch: int, *, stride: int, padding: int = 0, **_: Any) -> Symbolic:
    """Square patches, b c·patch·patch n: each pixel once for every patch that it lies in."""
    b, channels, height, width = x.shape
    down, across = ((int(side) + 2 * int(padding) - int(patch)) // int(stride) + 1 for side in (height, width))
    count = Dim("patches", down * across)
    return run.new((b, channels * patch * patch, count), x.dtype)


def pad(run: SymbolicRun, x: Symbolic, pad: Sequence[int], mode: str = "constant", **_: Any) -> Symbolic:
    """Padding of the last axis only."""
    before, after = pad
    return run.new((*x.shape[:-1], before + x.shape[-1] + after), x.dtype, trained=x.trained)


# --- types ---


def to(run: SymbolicRun, x: Symbolic, *target: Any, dtype: torch.dtype | None = None, **_: Any) -> Symbolic:
    """Another type gives a copy, the same type the tensor itself; devices make no difference."""
    for each in target:
        dtype = each if isinstance(each, torch.dtype) else each.dtype if isinstance(each, Symbolic) else dtype
    if dtype is None or dtype == x.dtype:
        return x
    return run.again(run.new(x.shape, dtype, trained=x.trained and dtype.is_floating_point, order=x.order), x)


def to_type(dtype: torch.dtype) -> Callable[..., Symbolic]:
    return lambda run, x: to(run, x, dtype)


# --- x[…] ---


def getitem(run: SymbolicRun, x: Symbolic, index: Any) -> Symbolic:
    """Numbers, slices, None and … are views; a tensor of indices makes a copy, and the gradient needs the indices."""
    parts = index if isinstance(index, tuple) else (index,)
    if any(isinstance(part, Symbolic) for part in parts):
        return _rows(run, x, parts)
    shape: list[int] = []
    place: dict[int, int] = {}  # axis before → axis after
    axis, dense = 0, x.dense
    for part in _whole(parts, x.dim()):
        if isinstance(part, slice):
            place[axis] = len(shape)
            shape.append(_length(x.shape[axis], part))
        elif part is None:
            shape.append(1)
            continue
        dense, axis = dense and part == slice(None), axis + 1
    order = [place[old] for old in x.order if old in place]
    for new in range(len(shape)):
        if new not in order:  # an axis of size 1 has no place in memory
            order.insert(new, new)
    return x.view_of(shape, tuple(order), dense=dense)


def _whole(parts: tuple[Any, ...], dim: int) -> tuple[Any, ...]:
    """An index with one part for each axis: x[0] is x[0, :, :], x[..., 0] is x[:, :, 0]."""
    parts = parts if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)
    at = next(i for i, part in enumerate(parts) if part is Ellipsis)
    missing = dim - sum(part is not None for part in parts) + 1
    return (*parts[:at], *[slice(None)] * missing, *parts[at + 1 :])


def _length(size: int, part: slice) -> int:
    start = 0 if part.start is None else part.start
    stop = size if part.stop is None else part.stop
    if start < 0 or stop < 0:
        raise InputError("no_rule", function="getitem")
    count, step = stop - start, part.step or 1
    return count if step == 1 else (count if count % step == 0 else count + step - 1) // step


def _rows(run: SymbolicRun, x: Symbolic, parts: tuple[Any, ...]) -> Symbolic:
    if len(parts) != 1:
        raise InputError("no_rule", function="getitem")
    at = parts[0]
    if x.trained:
        run.keep(at, "at")
    return run.new((*at.shape, *x.shape[1:]), x.dtype, trained=x.trained)


VIEWS: dict[str, Callable[..., Any]] = {
    "permute": permute,
    "transpose": transpose,
    "unflatten": unflatten,
    "flatten": flatten,
    "reshape": reshape,
    "view": reshape,
    "contiguous": contiguous,
    "expand": expand,
    "repeat": repeat,
    "repeat_interleave": repeat_interleave,
    "cat": cat,
    "stack": stack,
    "chunk": chunk,
    "unfold": unfold,
    "F.unfold": image_patches,
    "F.pad": pad,
    "to": to,
    "float": to_type(torch.float32),
    "double": to_type(torch.float64),
    "long": to_type(torch.int64),
    "getitem": getitem,
}
