"""Heads that name a class: from the pooled stream, or from a class token and a distillation token (DeiT)."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.config.values import one_of, size
from glassformer.errors import InputError
from glassformer.kernels.linear import Linear
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
        self.pooler = Linear(d_model, d_model) if pooler else None
        self.output = Linear(d_model, classes, bias=bias) if classes else None

    def forward(
        self, x: Float[Tensor, "b t d"], mask: Bool[Tensor, "b t"] | None = None, embedding: Tensor | None = None
    ) -> Float[Tensor, "b *t classes"]:
        pooled = tap("pooled", pool_positions(x, self.pool, mask))  # b d, or b t d
        if self.pooler is not None:
            pooled = torch.tanh(self.pooler(pooled))
        return tap("logits", self.output(pooled)) if self.output is not None else pooled  # b classes, or b t classes


class DistilledHead(nn.Module):
    r"""Classes from the class token and from the distillation token (Touvron et al. 2021).

        logits = ((x_0 W_1 + b_1) + (x_1 W_2 + b_2)) / 2

    In training, the first learns from the labels and the second from a teacher; their mean is better than either.
    Differs from the paper: the paper has none.
    """

    def __init__(self, *, d_model: int, classes: int, bias: bool = True) -> None:
        super().__init__()
        size("head.classes", classes)
        self.output = Linear(d_model, classes, bias=bias)
        self.distillation = Linear(d_model, classes, bias=bias)

    def forward(
        self, x: Float[Tensor, "b t d"], mask: Tensor | None = None, embedding: Tensor | None = None
    ) -> Float[Tensor, "b classes"]:
        if x.shape[1] < 2:
            raise InputError("distilled_positions", length=x.shape[1])
        labelled, taught = tap("labelled", self.output(x[:, 0])), tap("taught", self.distillation(x[:, 1]))  # b classes
        return tap("logits", (labelled + taught) / 2)
