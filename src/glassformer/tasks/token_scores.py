"""Shared by tasks that predict tokens: the loss of a wide head, a few positions at a time, and the usual scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeGuard

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.kernels import usable
from glassformer.kernels.chunk import chunk_rows
from glassformer.layers.embedding import token_matrix
from glassformer.layers.head import LanguageModelHead
from glassformer.layers.residual import product_type
from glassformer.losses import IGNORE, CompiledLoss, Loss, Sum, chunked, cross_entropy


def tied_matrix(head: nn.Module, embedding: nn.Module) -> Tensor | None:
    """The matrix that a head borrows from the embedding, §3.4; None if it has its own."""
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
    """The loss of a head on the last stream, with at most `size` rows of logits in memory (0: all).

    On an accelerator a kernel of our own serves cross-entropy, and holds few of them in any case.
    """
    tied = tied_matrix(head, embedding)
    if (smoothing := plain_smoothing(loss)) is not None and is_one_product(head) and usable(x):
        from glassformer.kernels.linear_cross_entropy import linear_cross_entropy

        matrix = head.weight if tied is None else tied
        assert matrix is not None
        right, kind = targets.flatten(), product_type(x)
        total = linear_cross_entropy(x.flatten(0, -2), matrix, right, ignore=IGNORE, smoothing=smoothing, dtype=kind)
        return Sum(total, (right != IGNORE).sum())
    if not size:
        return loss(head(x, None, tied), targets)
    weights = [*head.parameters(), *([] if tied is None else [tied])]
    return chunked(lambda some: head(some[None], None, tied)[0], loss, x, targets, weights=weights, size=size)


def plain_smoothing(loss: Loss) -> float | None:
    """The smoothing of a cross-entropy without weights; None for any other loss."""
    loss = loss.plain if isinstance(loss, CompiledLoss) else loss
    if not isinstance(loss, partial) or loss.func is not cross_entropy or not {*loss.keywords} <= {"smoothing"}:
        return None
    return float(loss.keywords.get("smoothing", 0.0))


def is_one_product(head: nn.Module) -> TypeGuard[LanguageModelHead]:
    return isinstance(head, LanguageModelHead) and head.is_one_product


def head_scores(
    head: nn.Module, embedding: nn.Module, x: Float[Tensor, "b t d_model"], targets: Int[Tensor, "b t"]
) -> dict[str, Sum]:
    """The scores of a head on the last stream; on an accelerator some rows at a time, as in training.

    All logits of a batch that was trained without holding them may not fit.
    """
    tied = tied_matrix(head, embedding)
    if not x.is_cuda or not isinstance(head, LanguageModelHead):
        return token_scores(head(x, None, tied), targets)
    matrix = head.weight if tied is None else tied
    assert matrix is not None
    some = chunk_rows(targets.numel(), matrix.shape[0])
    return rows_scores(lambda rows: head(rows[None], None, tied), x.flatten(0, -2), targets.flatten(), some)


def rows_scores(
    logits: Callable[[Tensor], Tensor], x: Float[Tensor, "n d_model"], targets: Int[Tensor, " n"], size: int
) -> dict[str, Sum]:
    """`token_scores`, summed over pieces of `size` rows."""
    parts = [
        token_scores(logits(rows), right[None]) for rows, right in zip(x.split(size), targets.split(size), strict=True)
    ]
    return {
        name: Sum(
            torch.stack([part[name].total for part in parts]).sum(),
            torch.stack([part[name].count for part in parts]).sum(),
        )
        for name in parts[0]
    }


def token_scores(logits: Float[Tensor, "b t v"], targets: Int[Tensor, "b t"]) -> dict[str, Sum]:
    """loss: nats per token, without smoothing; accuracy: share of tokens guessed right, given the true past."""
    counted = targets != IGNORE
    right = (logits.argmax(-1) == targets) & counted
    return {"loss": cross_entropy(logits, targets), "accuracy": Sum(right.sum(), counted.sum())}


def with_perplexity(found: Mapping[str, float]) -> dict[str, float]:
    """Adds the perplexity, e to the loss; a very large loss is capped so that it stays finite."""
    return {**found, "perplexity": math.exp(min(found["loss"], 700.0))}
