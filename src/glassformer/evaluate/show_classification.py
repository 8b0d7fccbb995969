"""How the evaluation of a classifier looks: a line for each group, one for each label, and what is taken for what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.evaluate.classification import ClassificationEvaluation, Scores

MOST_LABELS = 12  # more do not fit side by side
COLUMNS = ("group", "texts", "accuracy", "majority", "f1", "calibration", "loss")


def tables(of: ClassificationEvaluation, lang: str | None = None) -> RenderableType:
    """Everything, for a terminal."""
    heading = say("judge.title", lang, run=of.folder.name, split=of.split, checkpoint=of.checkpoint)
    table = _table(heading, [say(f"classes.{key}", lang) for key in COLUMNS])
    if len(of.groups) > 1:
        for name, scores in of.groups.items():
            table.add_row(Text(name), *_cells(scores))
    table.add_row(Text(_main(of, lang)), *_cells(of.total), style="bold")
    parts: list[RenderableType] = [table, _labels(of, lang), *([_confusion(of, lang)] if _fits(of) else [])]
    return Group(*parts, *(Text(note) for note in notes(of, lang)))


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


def _cells(scores: Scores) -> list[str]:
    right = scores.accuracy
    return [
        f"{scores.texts:,}",
        f"{100 * right.value:.2f} [{100 * right.low:.2f}–{100 * right.high:.2f}]",
        f"{100 * scores.majority:.2f}",
        f"{100 * scores.f1.macro:.2f}",
        f"{100 * scores.calibration.error:.2f}",
        f"{scores.loss:.4f}",
    ]


def _labels(of: ClassificationEvaluation, lang: str | None) -> Table:
    table = _table(None, [say(f"classes.{key}", lang) for key in ("label", "texts", "precision", "recall", "f1")])
    scores, counts = of.total.f1, of.total.confusion.sum(axis=1)
    for i, name in enumerate(of.labels):
        shares = (scores.precision[i], scores.recall[i], scores.f1[i])
        table.add_row(Text(name), f"{counts[i]:,}", *(f"{100 * share:.2f}" for share in shares))
    return table


def _fits(of: ClassificationEvaluation) -> bool:
    return len(of.labels) <= MOST_LABELS


def _confusion(of: ClassificationEvaluation, lang: str | None) -> Table:
    table = _table(None, [say("classes.matrix", lang), *of.labels])
    for name, row in zip(of.labels, of.total.confusion.tolist(), strict=True):
        table.add_row(Text(name), *(f"{count:,}" for count in row))
    return table


def _table(title: str | None, columns: list[str]) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    for number, name in enumerate(columns):
        table.add_column(Text(name), justify="right" if number else "left")
    return table
