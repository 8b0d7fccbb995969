"""How good object queries are on a split: how many digits they find, and how many answers are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor

from glassformer.data.canvases import CLASSES, CanvasPlan
from glassformer.loading import Loaded
from glassformer.losses import Sum
from glassformer.metrics.boxes import BoxMatches, match_boxes
from glassformer.metrics.interval import Proportion, wilson
from glassformer.show import Sheet, Table
from glassformer.tasks.object_queries.task import CanvasBatch, ObjectQueries, QueryAnswers, likeliest_objects
from glassformer.tasks.result import Evaluation, EvaluationOptions, Groups, computed, number_columns, percent
from glassformer.tasks.task import added, means, on_host
from glassformer.words import say

PIECE = 128  # canvases in a pass


@dataclass(frozen=True)
class Found:
    """`found`: right class, an overlap of at least half, each digit once. `false_alarms`: wrong answers per canvas."""

    canvases: int
    found: Proportion
    precision: Proportion | None  # share of right answers; None if there were none
    false_alarms: float
    box_overlap: float
    loss: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class ObjectEvaluation(Evaluation[Any]):
    """See `Evaluation`; the total is a `Found`, `groups` are the digits, each with the share of them that was found."""

    total: Found
    groups: Mapping[str, Proportion]

    def to_json(self) -> dict[str, Any]:
        digits = {name: asdict(share) for name, share in self.groups.items()}
        return {**self.total.to_json(), **self.where, "groups": digits}

    def shown(self, lang: str | None = None) -> Sheet:
        """A line for each digit, one for all, and what the numbers mean."""
        columns = number_columns(("digit", "count", "found"), lambda key: say(f"objects.{key}", lang))
        table = Table(*columns, title=self.title(lang), lang=lang)
        for name, share in self.groups.items():
            table.add(name, f"{share.total:,}", percent(share))
        total = self.total
        table.total(say("judge.all", lang), f"{total.found.total:,}", percent(total.found))
        alarms, fit = f"{total.false_alarms:.3f}", f"{100 * total.box_overlap:.1f}"
        return Sheet(
            table,
            say("objects.alarms", lang, alarms=alarms, precision=percent(total.precision), canvases=total.canvases),
            say("objects.fit", lang, fit=fit, loss=f"{total.loss:.4f}"),
            say("objects.about", lang),
            *self.reading_notes(lang),
        )


def evaluate_object_queries(loaded: Loaded, split: str, options: EvaluationOptions) -> ObjectEvaluation:
    """Judge the answers on every canvas of a split."""
    found, task = CanvasPlan.of(loaded.config.data).examples(split), ObjectQueries.make(loaded.config)
    examples = Groups.of(loaded, split, {split: found}).every[split]
    counts, lines, sums = torch.zeros(4, CLASSES, dtype=torch.long), list[str](), dict[str, Sum]()

    def find(_: str, piece: list[int]) -> tuple[Tensor, list[str], dict[str, Sum]]:
        batch = task.collate([examples[i] for i in piece]).to(loaded.device)
        batch = replace(batch, images=batch.images.to(loaded.dtype))
        with torch.no_grad():
            said = likeliest_objects(loaded.model(batch.images))
            claims = match_boxes(*said, batch.labels, batch.boxes)
            scores = on_host(task.scores(loaded.model, batch))
        return _counts(batch, said, claims).cpu(), _lines(said), scores

    for _, _, (counted, some, scores) in computed({split: range(len(examples))}, PIECE, options, find):
        counts, lines, sums = counts + counted, lines + some, added(sums, scores)
    return ObjectEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        total=_total(counts, len(examples), means(sums)),
        groups={str(digit): wilson(*counts[:2, digit].tolist()) for digit in range(CLASSES) if counts[1, digit]},
        hypotheses={split: lines},
    )


def _counts(batch: CanvasBatch, said: QueryAnswers, claims: BoxMatches) -> torch.Tensor:
    """For every digit: how many were found, how many there are, how many answers were right, how many there were."""
    ours, theirs = (batch.labels[claims.found], batch.labels[batch.labels >= 0])
    right, every = said.said[claims.right], said.said[said.said >= 0]
    return torch.stack([torch.bincount(some, minlength=CLASSES) for some in (ours, theirs, right, every)])


def _total(counts: torch.Tensor, canvases: int, scores: Mapping[str, float]) -> Found:
    hits, there, right, every = counts.sum(1).tolist()
    precision = wilson(right, every) if every else None
    return Found(
        canvases, wilson(hits, there), precision, (every - right) / canvases, scores["box_overlap"], scores["loss"]
    )


def _lines(said: QueryAnswers) -> list[str]:
    """One line for each canvas: digit and box of every answer, the surest first."""
    lines = []
    for sureness, labels, boxes in zip(*(part.tolist() for part in said), strict=True):
        order = sorted(range(len(labels)), key=lambda i: -sureness[i])
        objects = [f"{labels[i]} ({', '.join(f'{side:.3f}' for side in boxes[i])})" for i in order if labels[i] >= 0]
        lines.append("; ".join(objects))
    return lines
