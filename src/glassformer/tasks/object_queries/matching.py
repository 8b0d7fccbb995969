"""Which query answers for which object, and the loss of the answers: a set, so their order does not matter."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.errors import ConfigError
from glassformer.layers.head.objects import ObjectsHead
from glassformer.losses import Loss, Sum
from glassformer.metrics.boxes import overlap
from glassformer.tasks.canvases import answer_loss


@dataclass(frozen=True)
class Matched:
    """Pairs of a query and an object, over a whole batch: n rows, n queries, n objects."""

    rows: Tensor
    queries: Tensor
    objects: Tensor


@dataclass(frozen=True, kw_only=True)
class SetLoss:
    r"""DETR's loss (Carion et al. 2020).

        σ = argmin Σ_i C(i, σ_i),     C = − p_σi(c_i) + λ_1 |b_i − b̂_σi|₁ − λ_g GIoU(b_i, b̂_σi)
        L = Σ_q CE(query q) + Σ_i λ_1 |b_i − b̂_σi|₁ + λ_g (1 − GIoU(b_i, b̂_σi))

    The best one-to-one matching σ is found first, by the Hungarian algorithm, and no gradient goes through it. A
    matched query should predict the class of its object, any other "nothing", which has a smaller weight (inside
    `criterion`) because most queries predict it.
    """

    criterion: Loss
    l1: float
    giou: float

    def __call__(self, y: Float[Tensor, "b q n"], labels: Int[Tensor, "b m"], boxes: Float[Tensor, "b m 4"]) -> Sum:
        """A label below 0 means no object. The count is the number of objects."""
        matched, (logits, drawn) = self.match(y, labels, boxes), ObjectsHead.split(y)
        at = matched.rows, matched.queries
        wanted = torch.full(logits.shape[:2], logits.shape[2] - 1, device=y.device)  # b q: "nothing"
        wanted[at] = labels[matched.rows, matched.objects]
        ours, theirs = drawn[at], boxes[matched.rows, matched.objects]  # n 4, n 4
        of_classes = self.criterion(logits, wanted).total
        return Sum(answer_loss(of_classes, ours, theirs, l1=self.l1, giou=self.giou), (labels >= 0).sum())

    @torch.no_grad()
    def match(self, y: Float[Tensor, "b q n"], labels: Int[Tensor, "b m"], boxes: Float[Tensor, "b m 4"]) -> Matched:
        """Computes the costs of all pairs at once, then matches each example by itself."""
        logits, drawn = ObjectsHead.split(y.float())
        real = labels >= 0  # b m
        of_class = logits.softmax(-1).gather(2, labels.clamp(min=0)[:, None].expand(-1, y.shape[1], -1))  # b q m
        distance = (drawn[:, :, None] - boxes[:, None]).abs().sum(-1)  # b q m
        _, fit = overlap(drawn[:, :, None], boxes[:, None])  # b q m
        costs = (self.l1 * distance - of_class - self.giou * fit).nan_to_num(0.0)  # the training loop reports NaN
        pairs = assign(costs, real)
        return Matched(*(pairs[:, i].to(y.device) for i in range(3)))


def assign(costs: Float[Tensor, "b q m"], real: Tensor) -> Int[Tensor, "n 3"]:
    """The cheapest one-to-one assignment of each example (Kuhn 1955): row, query, object; real objects come first."""
    try:
        from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]
    except ImportError as error:
        raise ConfigError("needs_package", what="task=object_queries", package="glassformer[images]") from error
    found: list[tuple[int, int, int]] = []
    for row, (cost, count) in enumerate(zip(costs.cpu().numpy(), real.sum(1).tolist(), strict=True)):
        queries, objects = linear_sum_assignment(cost[:, :count])
        found += [(row, query, one) for query, one in zip(queries.tolist(), objects.tolist(), strict=True)]
    return torch.tensor(found, dtype=torch.long).reshape(-1, 3)
