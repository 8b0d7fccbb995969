"""Gated feed-forward networks (GLU and its relatives)."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from glassformer.errors import choose
from glassformer.kernels.dropout import dropout
from glassformer.kernels.linear import Linear
from glassformer.layers.feed_forward.activation import ACTIVATIONS
from glassformer.tap import tap


class GatedFeedForward(nn.Module):
    r"""Gated linear unit as feed-forward network (Shazeer 2020).

        FFN(x) = (act(x W_gate) ⊙ x W_1) W_2

    One half decides how much of the other half passes. With SiLU it is SwiGLU (LLaMA), with GELU GEGLU (T5 v1.1),
    with ReLU ReGLU, with the sigmoid the first GLU (Dauphin et al. 2017). It has three matrices, so at
    d_ff · 2/3 it costs as much as the plain network.
    Differs from the paper: it replaces Eq. (2).
    """

    def __init__(
        self, *, d_model: int, d_ff: int, activation: str = "relu", bias: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.activation, self.dropout = choose("activation", activation, ACTIVATIONS), dropout
        self.w_gate = Linear(d_model, d_ff, bias=bias)
        self.w_1 = Linear(d_model, d_ff, bias=bias)
        self.w_2 = Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "b t d_model"]) -> Float[Tensor, "b t d_model"]:
        gate = tap("gate", self.activation(self.w_gate(x)))  # b t d_ff
        hidden = tap("hidden", gate * self.w_1(x))  # b t d_ff
        hidden = dropout(hidden, self.dropout, self.training)
        return tap("output", self.w_2(hidden))  # b t d_model
