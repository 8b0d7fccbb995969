"""Classes instead of tokens: of a whole sequence, or of each of its positions."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.config.values import one_of
from glassformer.layers.head.pooling import POOLS
from glassformer.layers.head.pooling import pool as pool_positions
from glassformer.tap import tap


class ClassifierHead(nn.Module):
    r"""A class for a whole sequence, or with `pool="each"` for every token: pool, then one linear layer.

        logits = pool(x) W + b

    `pooler` puts BERT's dense layer with tanh in between; `classes=0` stops after it (BERT without a task).
    Differs from the paper: the paper has none.
    """

    pools = POOLS

    def __init__(
        self, *, d_model: int, classes: int, pool: str = "cls", pooler: bool = False, bias: bool = True
    ) -> None:
        super().__init__()
        self.pool = one_of("head.pool", pool, self.pools)
        self.pooler = nn.Linear(d_model, d_model) if pooler else None
        self.output = nn.Linear(d_model, classes, bias=bias) if classes else None

    def forward(
        self, x: Float[Tensor, "b t d"], mask: Bool[Tensor, "b t"] | None = None, embedding: Tensor | None = None
    ) -> Float[Tensor, "b *t classes"]:
        pooled = tap("pooled", pool_positions(x, self.pool, mask))  # b d, or b t d
        if self.pooler is not None:
            pooled = torch.tanh(self.pooler(pooled))
        return tap("logits", self.output(pooled)) if self.output is not None else pooled  # b classes, or b t classes
