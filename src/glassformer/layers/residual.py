"""The "Add" of "Add & Norm": every sub-layer adds to the stream, and the order of adding and norm is a choice."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from glassformer.kernels import usable
from glassformer.layers.norm import LayerNorm

NORM_ORDERS = ("post", "pre", "parallel")


def add_norm(
    x: Tensor,  # b t d_model
    sublayer: Callable[[Tensor], Tensor],
    norm: Callable[[Tensor], Tensor],
    drop: Callable[[Tensor], Tensor],
    order: str,
) -> Tensor:
    r"""Residual connection and normalisation around one sub-layer f, §3.1 and §5.4.

        post  LayerNorm(x + Dropout(f(x)))      the paper; BERT
        pre   x + Dropout(f(LayerNorm(x)))      GPT-2, LLaMA: the stream itself is never normalised,
                                                so the gradient reaches every layer unchanged

    Differs from the paper: nothing for "post". ("parallel" concerns the whole block: see models/block.py.)
    """
    if order == "post":
        return carried(normed(x + drop(sublayer(x)), norm))
    x, y = branched(x, norm)
    return x + drop(sublayer(y))


def normed(x: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    """norm(x); in training on an accelerator with a backward pass of our own."""
    if isinstance(norm, LayerNorm) and usable(x) and torch.is_grad_enabled():
        from glassformer.kernels.layer_norm import layer_norm

        return layer_norm(x, norm.weight, norm.bias, norm.eps, x.dtype)
    return norm(x)


def branched(x: Tensor, norm: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """x, which goes on, and norm(x), which goes into the sub-layer; their slopes are added in one backward pass."""
    if isinstance(norm, LayerNorm) and usable(x) and torch.is_grad_enabled():
        from glassformer.kernels.layer_norm import branch

        return branch(x, norm.weight, norm.bias, norm.eps, product_type(x))
    return x, norm(x)


def carried(x: Tensor) -> Tensor:
    """x as the stream carries it from block to block: where products are in bfloat16, the stream is so too.

    Every sum is rounded once; norms and their statistics stay in float32. float16 would be too narrow for a stream.
    """
    kind = "cpu" if x.is_meta else x.device.type
    narrow = torch.is_autocast_enabled(kind) and torch.get_autocast_dtype(kind) == torch.bfloat16
    return x.to(torch.bfloat16) if narrow else x


def product_type(x: Tensor) -> torch.dtype:
    """The type that a product casts x to: autocast's, or its own."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype


class StochasticDepth(nn.Module):
    r"""Stochastic depth (Huang et al. 2016): in training, a whole sub-layer is left out of a sentence at random.

        y = f(x) · B / (1 − rate),   B ~ Bernoulli(1 − rate), one draw per row of the batch

    Dividing by the survival rate keeps the mean, so nothing changes in evaluation.
    Differs from the paper: the paper has none.
    """

    def __init__(self, rate: float = 0.0) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.rate == 0.0:
            return x
        keep = torch.rand(x.shape[0], *(1,) * (x.dim() - 1), device=x.device) >= self.rate  # b 1 1
        return x * keep / (1.0 - self.rate)

    @staticmethod
    def rates(highest: float, n_layers: int) -> list[float]:
        """The rate of each layer, rising evenly: the first is never dropped, the last at the highest rate."""
        return [highest * layer / max(n_layers - 1, 1) for layer in range(n_layers)]
