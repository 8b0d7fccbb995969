"""Stored tensors that we compute instead of reading: what each must hold, so that nothing meaningful is dropped.

Each function takes our configuration and the stored shape and returns the expected numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from glassformer.config.model import ModelConfig
from glassformer.layers.position.sinusoidal import sinusoid

BufferShape = tuple[int, ...]
Computed = Callable[[ModelConfig, BufferShape], Tensor]
TOLERANCES = {torch.float64: 1e-5, torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def agrees(stored: Tensor, expected: Tensor) -> bool:
    """Equal up to the rounding of the stored type; also relative to each number, because frequencies are small."""
    tolerance = TOLERANCES.get(stored.dtype, 0.0)
    return stored.shape == expected.shape and torch.allclose(
        stored.double(), expected.double(), rtol=tolerance, atol=tolerance / 10
    )


def sinusoid_buffer(config: ModelConfig, shape: BufferShape) -> Tensor:
    at, options = torch.arange(config.max_len), config.position.options
    return sinusoid(at, config.d_model, layout=options.get("layout", "interleaved"), dtype=torch.float64)


def counted(config: ModelConfig, shape: BufferShape) -> Tensor:
    """0 1 2 …: the numbers of the positions."""
    return torch.arange(shape[-1] if shape else 0).expand(shape)


def zeros(config: ModelConfig, shape: BufferShape) -> Tensor:
    return torch.zeros(shape)


def causal_buffer(config: ModelConfig, shape: BufferShape) -> Tensor:
    """1 where a position may look: at itself and those before it."""
    return torch.ones(shape).tril() if len(shape) >= 2 else torch.ones(shape)


def frequencies(config: ModelConfig, shape: BufferShape) -> Tensor:
    """base^(−2i / d_k); a scaling of the rotation is applied later and not stored."""
    base = float(config.position.options.get("base", 10000.0))
    return base ** -(torch.arange(0, config.head_size, 2, dtype=torch.float64) / config.head_size)
