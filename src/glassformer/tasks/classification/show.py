"""How the evaluation of a classifier looks: a line for each group, one for each label, and what is taken for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glassformer.show import Column, Sheet, Table
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.tasks.classification.evaluation import ClassificationEvaluation, ClassificationScores

MOST_LABELS = 12  # more do not fit side by side
SHARES = ("accuracy", "majority", "f1", "calibration")
DROPPED = {"calibration": 1, "majority": 2}


def tables(of: ClassificationEvaluation, lang: str | None = None) -> Sheet:
    """Everything."""
    heading = say("judge.title", lang, run=of.folder.name, split=of.split, checkpoint=of.checkpoint)
    table = Table(*_columns(of, lang), title=heading, lang=lang)
    if len(of.groups) > 1:
        for name, scores in of.groups.items():
            table.add(name, *_cells(scores))
    table.total(_main(of, lang), *_cells(of.total))
    return Sheet(table, _labels(of, lang), *([_confusion(of, lang)] if _fits(of) else []), *notes(of, lang))


def notes(of: ClassificationEvaluation, lang: str | None) -> list[str]:
    """The pairs that are confused most, what the numbers mean, and how often the split was read."""
    confused = [
        say("classes.confused", lang, true=of.labels[one.true], said=of.labels[one.predicted], count=one.count)
        for one in of.total.most_confused
    ]
    return [
        *confused,
        say("classes.about", lang),
        *([say("judge.apart", lang, apart=", ".join(of.apart))] if of.apart else []),
        say("judge.test_read" if of.split == "test" else "judge.read", lang, count=of.readings, split=of.split),
    ]


def _main(of: ClassificationEvaluation, lang: str | None) -> str:
    if len(of.groups) == 1:
        return of.split
    return say("judge.all_but", lang, apart=", ".join(of.apart)) if of.apart else say("judge.all", lang)


def _columns(of: ClassificationEvaluation, lang: str | None) -> list[Column]:
    return [
        Column(say("classes.group", lang), "name"),
        Column(say(f"units.many.{of.unit}", lang), "number"),
        *(Column(say(f"classes.{key}", lang), "number", DROPPED.get(key, 0)) for key in SHARES),
        Column(say(f"units.loss.{of.unit}", lang), "number"),
    ]


def _cells(scores: ClassificationScores) -> list[str]:
    right = scores.accuracy
    return [
        f"{scores.examples:,}",
        f"{100 * right.value:.2f} [{100 * right.low:.2f}–{100 * right.high:.2f}]",
        f"{100 * scores.majority:.2f}",
        f"{100 * scores.f1.macro:.2f}",
        f"{100 * scores.calibration.error:.2f}",
        f"{scores.loss:.4f}",
    ]


def _labels(of: ClassificationEvaluation, lang: str | None) -> Table:
    shares = [say(f"classes.{key}", lang) for key in ("precision", "recall", "f1")]
    table = _by_label(say("classes.label", lang), [say(f"units.many.{of.unit}", lang), *shares], lang)
    scores, counts = of.total.f1, of.total.confusion.sum(axis=1)
    for i, name in enumerate(of.labels):
        values = (scores.precision[i], scores.recall[i], scores.f1[i])
        table.add(name, f"{counts[i]:,}", *(f"{100 * value:.2f}" for value in values))
    return table


def _fits(of: ClassificationEvaluation) -> bool:
    return len(of.labels) <= MOST_LABELS


def _confusion(of: ClassificationEvaluation, lang: str | None) -> Table:
    table = _by_label(say("classes.matrix", lang), of.labels, lang)
    for name, row in zip(of.labels, of.total.confusion.tolist(), strict=True):
        table.add(name, *(f"{count:,}" for count in row))
    return table


def _by_label(first: str, others: Sequence[str], lang: str | None) -> Table:
    """A line for each label, then numbers."""
    return Table(Column(first, "name"), *(Column(title, "number") for title in others), lang=lang)
