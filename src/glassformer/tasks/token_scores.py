"""What the tasks that say tokens share: the loss of a wide head, a few positions at a time, and the usual scores."""

from __future__ import annotations

import math
from collections.abc import Mapping

from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.layers.embedding import token_matrix
from glassformer.layers.head import LanguageModelHead
from glassformer.losses import IGNORE, Loss, Sum, chunked, cross_entropy


def tied_matrix(head: nn.Module, embedding: nn.Module) -> Tensor | None:
    """The matrix that a head borrows from the embedding, §3.4; None where it has its own."""
    return token_matrix(embedding) if isinstance(head, LanguageModelHead) and head.weight is None else None


def head_loss(
    head: nn.Module,
    embedding: nn.Module,
    x: Float[Tensor, "*rows d_model"],
    targets: Int[Tensor, "*rows"],
    *,
    loss: Loss,
    size: int,
) -> Sum:
    """The loss of what a head makes of the last stream; never more than `size` rows of logits are held."""
    tied = tied_matrix(head, embedding)
    weights = [*head.parameters(), *([] if tied is None else [tied])]
    return chunked(lambda some: head(some[None], None, tied)[0], loss, x, targets, weights=weights, size=size)


def token_scores(logits: Float[Tensor, "b t v"], targets: Int[Tensor, "b t"]) -> dict[str, Sum]:
    """loss: nats per token, nothing smoothed; accuracy: tokens guessed right, the right past given."""
    counted = targets != IGNORE
    right = (logits.argmax(-1) == targets) & counted
    return {"loss": cross_entropy(logits, targets), "accuracy": Sum(right.sum(), counted.sum())}


def with_perplexity(found: Mapping[str, float]) -> dict[str, float]:
    """Perplexity is e to the loss; of a loss that is out of bounds a number that still is one."""
    return {**found, "perplexity": math.exp(min(found["loss"], 700.0))}
