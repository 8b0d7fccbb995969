"""Numbers instead of tokens: a forecast, for example."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.config.values import one_of
from glassformer.errors import InputError
from glassformer.kernels.dropout import dropout
from glassformer.kernels.linear import Linear
from glassformer.layers.head.pooling import POOLS
from glassformer.layers.head.pooling import pool as pool_positions
from glassformer.tap import tap


class RegressionHead(nn.Module):
    r"""Numbers for a whole sequence, a forecast for example: pool, then one linear layer.

        y = pool(x) W + b

    With `pool="flatten"` each of the `positions` has its own weights (PatchTST).
    Differs from the paper: the paper has none.
    """

    pools = tuple(how for how in POOLS if how != "each")  # numbers for a whole sequence only

    def __init__(
        self,
        *,
        d_model: int,
        outputs: int,
        pool: str = "mean",
        positions: int = 1,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.pool, self.positions, self.dropout = one_of("head.pool", pool, self.pools), positions, dropout
        self.output = Linear((positions if pool == "flatten" else 1) * d_model, outputs, bias=bias)

    def forward(
        self, x: Float[Tensor, "b t d"], mask: Bool[Tensor, "b t"] | None = None, embedding: Tensor | None = None
    ) -> Float[Tensor, "b outputs"]:
        if self.pool == "flatten" and x.shape[1] != self.positions:
            raise InputError("flatten_positions", length=x.shape[1], positions=self.positions)
        pooled = dropout(tap("pooled", pool_positions(x, self.pool, mask)), self.dropout, self.training)  # b d
        return tap("output", self.output(pooled))  # b outputs
