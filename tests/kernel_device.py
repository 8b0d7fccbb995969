"""Where kernels of our own are tested: on an accelerator, or by hand on a CPU with TRITON_INTERPRET=1."""

from __future__ import annotations

import os

import pytest
import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
KERNEL_TESTS = [
    pytest.mark.gpu,
    pytest.mark.skipif(DEVICE == "cpu" and not INTERPRETED, reason="needs an accelerator"),
]
