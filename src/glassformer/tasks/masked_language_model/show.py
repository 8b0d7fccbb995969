"""How the evaluation of a masked language model looks: a line for each group, then what the numbers mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.show import Column, Sheet, Table
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.metrics.interval import Proportion
    from glassformer.tasks.masked_language_model.evaluation import MaskedEvaluation, MaskedScores

COLUMNS = ("group", "texts", "words", "found", "determined", "masked", "loss")
DROPPED = {"texts": 1, "masked": 2}


def tables(of: MaskedEvaluation, lang: str | None = None) -> Sheet:
    """Everything."""
    title = say("judge.title", lang, run=of.folder.name, split=of.split, checkpoint=of.checkpoint)
    first, *others = COLUMNS
    numbers = (Column(say(f"gaps.{key}", lang), "number", DROPPED.get(key, 0)) for key in others)
    table = Table(Column(say(f"gaps.{first}", lang), "name"), *numbers, title=title, lang=lang)
    if len(of.groups) > 1:
        for name, scores in of.groups.items():
            table.add(name, *_cells(scores))
    table.total(_main(of, lang), *_cells(of.total))
    return Sheet(table, *notes(of, lang))


def notes(of: MaskedEvaluation, lang: str | None) -> list[str]:
    """What the numbers mean, and how often the split was read."""
    return [
        say("gaps.about", lang),
        say("gaps.sure" if of.total.determined is not None else "gaps.unsure", lang),
        *([say("judge.apart", lang, apart=", ".join(of.apart))] if of.apart else []),
        say("judge.test_read" if of.split == "test" else "judge.read", lang, count=of.readings, split=of.split),
    ]


def _main(of: MaskedEvaluation, lang: str | None) -> str:
    if len(of.groups) == 1:
        return of.split
    return say("judge.all_but", lang, apart=", ".join(of.apart)) if of.apart else say("judge.all", lang)


def _cells(scores: MaskedScores) -> list[str]:
    shares = (scores.words, scores.determined, scores.masked)
    return [f"{scores.texts:,}", f"{scores.words.total:,}", *map(_share, shares), f"{scores.loss:.4f}"]


def _share(share: Proportion | None) -> str:
    return "–" if share is None else f"{100 * share.value:.2f} [{100 * share.low:.2f}–{100 * share.high:.2f}]"
