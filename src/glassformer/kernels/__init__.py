"""Other forms of what the layers compute, for speed: one file each, beside its plain form.

On an accelerator they are kernels of our own, in Triton, which comes with torch there; on a CPU, other calls of torch.

Nobody has to know them: where there is no accelerator or no Triton the plain form runs, and most give way to it where
the mathematics is looked at. Attention stays fused then, and a kernel writes the weights that an observer asks for. A
test compares the two.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from glassformer.tap import observed

if TYPE_CHECKING:
    from torch import Tensor

TRITON = find_spec("triton") is not None

Launch = tuple[tuple[Any, ...], dict[str, Any]]  # the arguments of a kernel


def missing_for_triton() -> str | None:
    """What Triton's kernels need and do not find here: each is started by a few lines of C, compiled on the spot."""
    if not TRITON:
        return "Triton"
    return None if os.environ.get("CC") or any(map(shutil.which, ("gcc", "clang"))) else "C (gcc)"


RUNS = missing_for_triton() is None  # looked up once: a compiler of models must see a constant


def runs_on(x: Tensor) -> bool:
    """Whether our kernels run where this tensor is."""
    return RUNS and x.device.type == "cuda" and x.dtype.itemsize <= 4


def usable(x: Tensor) -> bool:
    """Whether a kernel can take the place of its plain form for this tensor: nobody looks at what it leaves out."""
    return runs_on(x) and not observed()


def compiled_in_bfloat16(x: Tensor) -> bool:
    """Whether products of x are in bfloat16 here, in a step that is compiled for an accelerator and that nobody
    watches."""
    import torch

    if not torch.compiler.is_compiling() or not usable(x):
        return False
    kind = x.device.type
    return torch.bfloat16 == (torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype)


def in_the_open(*tensors: Tensor) -> bool:
    """Whether a form for CPUs can take the place of the plain one: nobody follows or compiles the torch functions."""
    import torch
    from torch.overrides import has_torch_function

    return (
        all(x.dtype == torch.float32 and x.device.type == "cpu" for x in tensors)
        and not has_torch_function(tensors)
        and not torch.compiler.is_compiling()
    )
