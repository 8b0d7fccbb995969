"""BatchNorm (Ioffe & Szegedy 2015) as a custom norm in place of LayerNorm: `build(…, norms=…)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

MOMENTUM = 0.1  # the usual value: each batch moves the stored averages by a tenth


class BatchNorm(nn.Module):
    r"""Normalises each feature over all tokens of the batch.

        BatchNorm(x) = γ ⊙ (x − mean_batch(x)) / √(var_batch(x) + ε) + β

    In evaluation the averages stored in training replace the batch's own. `real`, b t: the tokens that count; None:
    all of them, padding too, as in a network that does not know about padding.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None
        self.register_buffer("mean", torch.zeros(d_model))
        self.register_buffer("variance", torch.ones(d_model))
        self.real: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        mean, variance = self._batch(x) if self.training else (self.mean, self.variance)
        y = (x - mean) * torch.rsqrt(variance + self.eps) * self.weight
        return y if self.bias is None else y + self.bias

    def _batch(self, x: Tensor) -> tuple[Tensor, Tensor]:
        known = self.real is not None and self.real.shape == x.shape[:2]
        counted = x[self.real] if known else x.flatten(0, -2)  # tokens d_model
        mean, variance = counted.mean(0), counted.var(0, unbiased=False)
        with torch.no_grad():
            self.mean.lerp_(mean, MOMENTUM)
            self.variance.lerp_(variance, MOMENTUM)
        return mean, variance


class NoNorm(nn.Identity):
    """The identity in place of a norm."""

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__()


def told_of_padding(stack: nn.Module, mask: Callable[[Any], Tensor | None]) -> nn.Module:
    """The same stack; before each pass its BatchNorms get the mask of real tokens, `mask(inputs)`."""

    def tell(_: nn.Module, inputs: Any) -> None:
        real = mask(inputs)
        for module in stack.modules():
            if isinstance(module, BatchNorm):
                module.real = real

    stack.register_forward_pre_hook(tell)
    return stack
