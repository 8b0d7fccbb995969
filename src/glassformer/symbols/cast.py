"""Mixed precision: autocast acts below the functions of torch, so the rules say themselves what it casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from glassformer.symbols.tensor import Symbolic

if TYPE_CHECKING:
    from glassformer.symbols.run import SymbolicRun


def narrowed(run: SymbolicRun, x: Symbolic) -> Symbolic:
    """What a product takes: under autocast a copy in two bytes, made anew at every call."""
    return _cast(run, x, torch.bfloat16) if run.autocast and x.dtype == run.dtype else x


def widened(run: SymbolicRun, x: Symbolic) -> Symbolic:
    """What a norm takes: under autocast a copy in four bytes, unless it has four already."""
    return _cast(run, x, run.dtype) if run.autocast and x.dtype == torch.bfloat16 else x


def _cast(run: SymbolicRun, x: Symbolic, dtype: torch.dtype) -> Symbolic:
    """A copy in another type lies in memory as it did before."""
    return run.new(x.shape, dtype, trained=x.trained, order=x.order)
