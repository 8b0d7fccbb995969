"""Mixed precision: autocast acts below torch's functions, so the rules themselves say what it casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from glassformer.symbols.tensor import Symbolic

if TYPE_CHECKING:
    from glassformer.symbols.run import SymbolicRun


def narrowed(run: SymbolicRun, x: Symbolic) -> Symbolic:
    """The operand of a product: under autocast a two-byte copy, made at every call; when compiled, once for all."""
    if not run.autocast or x.dtype != run.dtype:
        return x
    if not run.compiled:
        return _cast(run, x, torch.bfloat16)
    known = (id(x.storage_), tuple(map(int, x.shape)), x.order)
    if known not in run.copies:
        run.copies[known] = x, _cast(run, x, torch.bfloat16)
    return run.copies[known][1]


def widened(run: SymbolicRun, x: Symbolic) -> Symbolic:
    """The input of a norm: under autocast a four-byte copy, unless it has four already."""
    return _cast(run, x, run.dtype) if run.autocast and x.dtype == torch.bfloat16 else x


def _cast(run: SymbolicRun, x: Symbolic, dtype: torch.dtype) -> Symbolic:
    """A copy in another type, in the same memory order."""
    return run.again(run.new(x.shape, dtype, trained=x.trained, order=x.order), x)
