"""Kernels of our own for an accelerator, in Triton, which comes with torch there: one file each, beside its plain form.

Nobody has to know them: where there is no accelerator or no Triton, and wherever the mathematics is looked at, the
plain form runs. A test compares the two.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from glassformer.tap import observed

if TYPE_CHECKING:
    from torch import Tensor

TRITON = find_spec("triton") is not None


def usable(x: Tensor) -> bool:
    """Whether a kernel can take the place of its plain form for this tensor."""
    return TRITON and x.device.type == "cuda" and x.dtype.itemsize <= 4 and not observed()
