"""Normalisation, the "Norm" of Figure 1's "Add & Norm": one token at a time, never across the batch."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config.values import size
from glassformer.tap import tap


class LayerNorm(nn.Module):
    r"""Layer normalisation (Ba et al. 2016), used in §3.1.

        LayerNorm(x) = γ ⊙ (x − mean(x)) / √(var(x) + ε) + β

    Mean and variance are taken over the numbers of one token, in at least float32, so a token's result depends on
    no other token and on no other sentence. γ is called α in some texts; it is `weight` here, β is `bias`.
    Differs from the paper: nothing; the bias can be left out.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(size("d_model", d_model)))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(self, x: Float[Tensor, "*rows d"]) -> Float[Tensor, "*rows d"]:
        return tap("output", F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps))


class RMSNorm(nn.Module):
    r"""Root-mean-square normalisation (Zhang & Sennrich 2019): LayerNorm without the mean and without β.

        RMSNorm(x) = γ ⊙ x / √(mean(x²) + ε)

    It keeps the part of LayerNorm that steadies training, the scale, and drops the rest. Computed in at least float32.
    Differs from the paper: it replaces LayerNorm in T5, LLaMA, Mistral and Qwen.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = False) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(size("d_model", d_model)))

    def forward(self, x: Float[Tensor, "*rows d"]) -> Float[Tensor, "*rows d"]:
        at_least_32 = x if x.dtype == torch.float64 else x.float()
        scale = torch.rsqrt(at_least_32.square().mean(-1, keepdim=True) + self.eps)  # *rows 1
        return tap("output", (at_least_32 * scale).to(x.dtype) * self.weight)


Norm = Callable[..., nn.Module]  # (d_model, *, eps, bias) → module; a lesson may bring its own

NORMS: dict[str, type[LayerNorm] | type[RMSNorm]] = {
    "layer": LayerNorm,
    "rms": RMSNorm,
}
