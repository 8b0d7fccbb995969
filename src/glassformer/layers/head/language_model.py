"""A logit for every token of the vocabulary, the "Linear" of Figure 1."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.errors import choose
from glassformer.kernels.linear import Linear, linear_map
from glassformer.layers.feed_forward.activation import ACTIVATIONS
from glassformer.layers.norm import LayerNorm
from glassformer.tap import tap


class LanguageModelHead(nn.Module):
    r"""The pre-softmax projection, §3.4: one logit for every token of the vocabulary.

        logits = x Eᵀ (+ b)      E: the embedding itself when tied (Press & Wolf 2017), else a matrix of its own

    `transform` puts a dense layer, `activation` and LayerNorm in front (BERT's masked language model); `scale` divides
    x by √d_model first (T5, tied). `offset` adds a vector that is stored but not trained (the fixed
    bias of BART and Marian).
    Differs from the paper: nothing by default.
    """

    def __init__(
        self,
        *,
        d_model: int,
        vocab_size: int,
        tied: bool = False,
        bias: bool = False,
        scale: bool = False,
        transform: bool = False,
        activation: str = "gelu",
        offset: bool = False,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self.activation = choose("head.activation", activation, ACTIVATIONS)
        self.scale = d_model**-0.5 if scale else 1.0
        self.transform = Linear(d_model, d_model) if transform else None
        self.norm = LayerNorm(d_model, eps=eps) if transform else None
        self.weight = None if tied else nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=d_model**-0.5))
        self.bias = nn.Parameter(torch.zeros(vocab_size)) if bias else None
        self.register_buffer("offset", torch.zeros(vocab_size) if offset else None)
        self.offset: Tensor | None

    @property
    def is_one_product(self) -> bool:
        """Whether it is x Eᵀ and nothing else."""
        return self.transform is None and self.bias is None and self.offset is None and self.scale == 1.0

    def forward(
        self, x: Float[Tensor, "b t d"], mask: Tensor | None = None, embedding: Float[Tensor, "v d"] | None = None
    ) -> Float[Tensor, "b t v"]:
        if self.transform is not None and self.norm is not None:
            x = self.norm(self.activation(self.transform(x)))  # b t d
        if self.scale != 1.0:
            x = x * self.scale
        logits = self.last(x, embedding)  # b t v
        return tap("logits", logits if self.offset is None else logits + self.offset)

    def last(self, x: Float[Tensor, "b t d"], embedding: Float[Tensor, "v d"] | None) -> Float[Tensor, "b t v"]:
        """x Eᵀ (+ b)."""
        weight = embedding if self.weight is None else self.weight
        assert weight is not None  # a tied head is given the embedding by its model
        return linear_map(x, weight, self.bias)
