"""How often the digit that a prompt asks for is found on a split, with chance beside it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor

from glassformer.data.prompts import PromptKind
from glassformer.loading import Loaded
from glassformer.losses import Sum
from glassformer.metrics.interval import Proportion, wilson
from glassformer.show import Sheet
from glassformer.tasks.object_queries.task import QueryAnswers, likeliest_objects
from glassformer.tasks.prompted_objects.task import PromptBatch, PromptedObjects, asked_canvases, is_right
from glassformer.tasks.result import Evaluation, EvaluationOptions, Groups, computed, number_columns, percent
from glassformer.tasks.task import added, means, on_host
from glassformer.words import say

PIECE = 128  # canvases in a pass


@dataclass(frozen=True)
class Answered:
    """`right`: class and box are those of the digit asked for. `chance`: of one who answers for any of the digits."""

    right: Proportion
    chance: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class PromptEvaluation(Evaluation[Answered]):
    """See `Evaluation`; `groups` are the kinds of prompts."""

    box_overlap: float
    loss: float

    def to_json(self) -> dict[str, Any]:
        return {**self.kept, **self.where, **self.by_group}

    @property
    def kept(self) -> dict[str, Any]:
        return {**self.total.to_json(), "box_overlap": self.box_overlap, "loss": self.loss}

    def shown(self, lang: str | None = None) -> Sheet:
        """A line for each kind of prompt, one for all, and what the numbers mean."""
        columns = number_columns(("prompt", "count", "right", "chance"), lambda key: say(f"prompts.{key}", lang))
        return Sheet(
            self.table(columns, _cells, lang),
            say("prompts.fit", lang, fit=f"{100 * self.box_overlap:.1f}", loss=f"{self.loss:.4f}"),
            say("prompts.about", lang),
            *self.reading_notes(lang),
        )


def _cells(one: Answered) -> list[str]:
    return [f"{one.right.total:,}", percent(one.right), f"{100 * one.chance:.1f}"]


def evaluate_prompted_objects(loaded: Loaded, split: str, options: EvaluationOptions) -> PromptEvaluation:
    """Ask once in each way about every canvas of a split, always the same."""
    task = PromptedObjects.make(loaded.config)
    examples = Groups.of(loaded, split, {split: asked_canvases(loaded.config, split)}).every[split]
    counts, lines, sums = torch.zeros(3, len(task.kinds), dtype=torch.double), list[str](), dict[str, Sum]()

    def find(_: str, piece: list[int]) -> tuple[Tensor, list[str], dict[str, Sum]]:
        batch = task.collate([examples[i] for i in piece]).to(loaded.device)
        batch = replace(batch, images=batch.images.to(loaded.dtype))
        with torch.no_grad():
            found = likeliest_objects(task.answers(loaded.model, batch))
            scores = on_host(task.scores(loaded.model, batch))
        return _counts(batch, found).cpu(), _lines(task, batch, found), scores

    for _, _, (counted, said, more) in computed({split: range(len(examples))}, PIECE, options, find):
        counts, lines, sums = counts + counted, lines + said, added(sums, more)
    scores = means(sums)
    return PromptEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        total=_answered(counts.sum(1)),
        groups={kind: _answered(counts[:, number]) for number, kind in enumerate(task.kinds)},
        hypotheses={split: lines},
        box_overlap=scores["box_overlap"],
        loss=scores["loss"],
    )


def _counts(batch: PromptBatch, found: QueryAnswers) -> Tensor:
    """For every kind of prompt: how often it was answered right, how often asked, and the sum of the chances: 3 k."""
    right = is_right(found, batch).double()  # b k
    parts = right, torch.ones_like(right), (1 / batch.digits.double()).expand_as(right)
    return torch.stack([part.sum(0) for part in parts])


def _answered(counts: Tensor) -> Answered:
    hits, asked, chances = counts.tolist()
    return Answered(wilson(round(hits), round(asked)), chances / asked)


def _lines(task: PromptedObjects, batch: PromptBatch, found: QueryAnswers) -> list[str]:
    """One line for each canvas: every prompt, with digit and box of its answer."""
    rows = zip(batch.prompts.tolist(), found.said.tolist(), found.boxes.tolist(), strict=True)
    return ["; ".join(map(_line, task.kinds.values(), *row)) for row in rows]


def _line(prompt: PromptKind, tokens: tuple[int, int], digit: int, box: list[float]) -> str:
    return f"{prompt.read(tokens)} → {digit} ({', '.join(f'{side:.3f}' for side in box)})"
