"""Learned queries: the input of a decoder that has no words to start from, in place of the "Output Embedding"."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.tap import tap


class LearnedQueries(nn.Module):
    r"""Object queries (Carion et al. 2020): a number of learned vectors, the same for every example.

        x_t = Q[t],   t = 1 … queries

    A decoder turns each of them into one answer, all at once: through cross-attention it looks for what it should
    report, and through self-attention it sees what the others report.
    Differs from the paper: it replaces the token embedding of the target.
    """

    def __init__(self, *, queries: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(queries, d_model).normal_(std=d_model**-0.5))

    def forward(self, b: int) -> Float[Tensor, "b t d_model"]:
        return tap("output", self.weight.repeat(b, 1, 1))  # b t d_model
