"""The position-wise feed-forward network, the blue box of Figure 1."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from glassformer.errors import choose
from glassformer.kernels.dropout import dropout
from glassformer.kernels.linear import Linear, activated, gelu_layer, keeps_less
from glassformer.layers.feed_forward.activation import ACTIVATIONS
from glassformer.tap import tap


class FeedForward(nn.Module):
    r"""Position-wise feed-forward network, §3.3, Eq. (2).

        FFN(x) = max(0, x W_1 + b_1) W_2 + b_2

    The same two products for every token, each on its own: attention mixes tokens, this network mixes features.
    Differs from the paper: nothing by default; the activation and the dropout between the products are options.
    """

    def __init__(
        self, *, d_model: int, d_ff: int, activation: str = "relu", bias: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.activation, self.dropout = choose("activation", activation, ACTIVATIONS), dropout
        self.w_1 = Linear(d_model, d_ff, bias=bias)
        self.w_2 = Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "b t d_model"]) -> Float[Tensor, "b t d_model"]:
        if keeps_less(x, self.w_2, self.activation) and not (self.training and self.dropout):
            return gelu_layer(self.w_1(x), self.w_2)
        hidden = tap("hidden", activated(x, self.w_1, self.activation))  # b t d_ff
        hidden = dropout(hidden, self.dropout, self.training)
        return tap("output", self.w_2(hidden))  # b t d_model
