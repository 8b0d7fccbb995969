"""How good object queries are on a split: how many digits they find, how often they see what is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from glassformer.data.canvases import CLASSES, CanvasPlan
from glassformer.data.examples import Examples
from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.metrics.boxes import BoxMatches, claim
from glassformer.metrics.interval import Proportion, wilson
from glassformer.show import Column, Sheet, Table, as_html, as_text
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.evaluation_options import EvaluationOptions
from glassformer.tasks.object_queries.task import CanvasBatch, ObjectQueries, QueryAnswers, answers
from glassformer.words import say

PIECE = 128  # canvases in a pass


@dataclass(frozen=True)
class Found:
    """`found`: right class, an overlap of at least half, each digit once. `false_alarms`: wrong answers on a canvas."""

    canvases: int
    found: Proportion
    precision: Proportion | None  # right ones of all answers; None where nothing was said
    false_alarms: float
    box_overlap: float
    loss: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class ObjectEvaluation:
    """See `Evaluation`; `groups` are the digits, each with how many of them were found."""

    folder: Path
    checkpoint: str
    split: str
    readings: int
    total: Found
    groups: Mapping[str, Proportion]
    hypotheses: Mapping[str, list[str]] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        return {
            **self.total.to_json(),
            "run": str(self.folder),
            "checkpoint": self.checkpoint,
            "split": self.split,
            "readings": self.readings,
            "groups": {name: asdict(share) for name, share in self.groups.items()},
        }

    def shown(self) -> Sheet:
        """A line for each digit, one for all, and what the numbers mean."""
        title = say("judge.title", run=self.folder.name, split=self.split, checkpoint=self.checkpoint)
        first, *others = (say(f"objects.{key}") for key in ("digit", "count", "found"))
        table = Table(Column(first, "name"), *(Column(name, "number") for name in others), title=title)
        for name, share in self.groups.items():
            table.add(name, f"{share.total:,}", _share(share))
        table.total(say("judge.all"), f"{self.total.found.total:,}", _share(self.total.found))
        precise = "–" if self.total.precision is None else _share(self.total.precision)
        alarms, fit = f"{self.total.false_alarms:.3f}", f"{100 * self.total.box_overlap:.1f}"
        return Sheet(
            table,
            say("objects.alarms", alarms=alarms, precision=precise, canvases=self.total.canvases),
            say("objects.fit", fit=fit, loss=f"{self.total.loss:.4f}"),
            say("objects.about"),
            say("judge.test_read" if self.split == "test" else "judge.read", count=self.readings, split=self.split),
        )

    def __rich__(self) -> Sheet:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self.shown())


def _share(one: Proportion) -> str:
    return f"{100 * one.value:.1f} [{100 * one.low:.1f}–{100 * one.high:.1f}]"


def evaluate_object_queries(loaded: Loaded, split: str, how: EvaluationOptions) -> ObjectEvaluation:
    """Look at every canvas of a split once. What was read is written into the run's evaluations.jsonl."""
    examples, task, readings = (
        CanvasPlan.of(loaded.config.data).examples(split),
        _task(loaded),
        EvaluationLog(loaded.folder),
    )
    if not len(examples):
        raise InputError("split_empty", split=split, path=loaded.folder)
    counts, lines, sums = torch.zeros(4, CLASSES, dtype=torch.long), [], dict[str, Any]()
    for first in range(0, len(examples), PIECE):
        batch = _batch(task, examples, first).to(loaded.device)
        with torch.no_grad():
            said = answers(loaded.model(batch.images))
            claims = claim(*said, batch.labels, batch.boxes)
            for name, one in task.scores(loaded.model, batch).items():
                total, count = sums.get(name, (0.0, 0))
                sums[name] = (total + float(one.total), count + int(one.count))
        counts += _counts(batch, said, claims).cpu()
        lines += _lines(said)
        how.progress(min(first + PIECE, len(examples)), len(examples))
    total = _total(counts, len(examples), {name: total / count for name, (total, count) in sums.items()})
    readings.write(split, loaded.checkpoint.name, total.to_json())
    shares = {str(digit): wilson(*counts[:2, digit].tolist()) for digit in range(CLASSES) if counts[1, digit]}
    return ObjectEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        readings=readings.count(split),
        total=total,
        groups=shares,
        hypotheses={split: lines},
    )


def _task(loaded: Loaded) -> ObjectQueries:
    return ObjectQueries.make(loaded.config)


def _batch(task: ObjectQueries, examples: Examples, first: int) -> CanvasBatch:
    return task.collate([examples[i] for i in range(first, min(first + PIECE, len(examples)))])


def _counts(batch: CanvasBatch, said: QueryAnswers, claims: BoxMatches) -> torch.Tensor:
    """Of every digit: how many were found, how many there are, how many answers were right, how many there were."""
    ours, theirs = (batch.labels[claims.found], batch.labels[batch.labels >= 0])
    right, every = said.said[claims.right], said.said[said.said >= 0]
    return torch.stack([torch.bincount(some, minlength=CLASSES) for some in (ours, theirs, right, every)])


def _total(counts: torch.Tensor, canvases: int, means: Mapping[str, float]) -> Found:
    hits, there, right, every = counts.sum(1).tolist()
    precision = wilson(right, every) if every else None
    return Found(
        canvases, wilson(hits, there), precision, (every - right) / canvases, means["box_overlap"], means["loss"]
    )


def _lines(said: QueryAnswers) -> list[str]:
    """One line for each canvas: digit and box of every answer, the surest first."""
    lines = []
    for sureness, labels, boxes in zip(*(part.tolist() for part in said), strict=True):
        order = sorted(range(len(labels)), key=lambda i: -sureness[i])
        told = [f"{labels[i]} ({', '.join(f'{side:.3f}' for side in boxes[i])})" for i in order if labels[i] >= 0]
        lines.append("; ".join(told))
    return lines
