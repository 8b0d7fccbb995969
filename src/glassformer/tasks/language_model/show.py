"""How the evaluation of a language model looks: a line for each group of texts, n-grams beside it, then the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from glassformer.metrics.language import HIGHEST
from glassformer.show import Column, Sheet, Table
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.tasks.language_model.evaluation import LanguageModelEvaluation, WritingScores

COLUMNS = ("group", "tokens", "characters", "loss", "perplexity", "bits", "n_gram", "accuracy")
DROPPED = {"perplexity": 1, "characters": 2}  # perplexity is e to the loss


def tables(of: LanguageModelEvaluation, lang: str | None = None) -> Sheet:
    """Everything."""
    table = Table(*columns(of, lang), title=title(of, lang), lang=lang)
    for cells, main in rows(of, lang):
        (table.total if main else table.add)(*cells)
    return Sheet(table, *notes(of, lang))


def title(of: LanguageModelEvaluation, lang: str | None) -> str:
    return say("judge.title", lang, run=of.folder.name, split=of.split, checkpoint=of.checkpoint)


def columns(of: LanguageModelEvaluation, lang: str | None) -> list[Column]:
    first, *others = ((key, say(f"writing.{key}", lang, order=of.order)) for key in COLUMNS)
    return [Column(first[1], "name"), *(Column(title, "number", DROPPED.get(key, 0)) for key, title in others)]


def rows(of: LanguageModelEvaluation, lang: str | None) -> Iterator[tuple[list[str], bool]]:
    """The cells of every line, and whether it is the main one."""
    name = of.split
    if len(of.groups) > 1:
        yield from (([group, *_cells(scores, of.order)], False) for group, scores in of.groups.items())
        name = say("judge.all_but", lang, apart=", ".join(of.apart)) if of.apart else say("judge.all", lang)
    yield [name, *_cells(of.total, of.order)], True


def _cells(scores: WritingScores, order: int) -> list[str]:
    right, surprise = scores.accuracy, scores.surprise
    return [
        f"{surprise.tokens:,}",
        f"{scores.characters:,}",
        f"{surprise.nats:.4f}",
        f"{surprise.perplexity:.4g}",
        f"{scores.bits_per_character:.4f}",
        f"{scores.n_grams[order]:.4f}",
        f"{100 * right.value:.1f} [{100 * right.low:.1f}–{100 * right.high:.1f}]",
    ]


def notes(of: LanguageModelEvaluation, lang: str | None) -> list[str]:
    """What the numbers mean, whether counting is beaten, and how often the split was read."""
    ours, counted = of.total.bits_per_character, of.total.n_grams[of.order]
    orders = ", ".join(f"{order}: {bits:.4f}" for order, bits in of.total.n_grams.items())
    return [
        say("writing.about", lang, half=of.context // 2, context=of.context),
        say("writing.in_windows", lang, loss=f"{of.total.in_windows:.4f}", context=of.context),
        say("writing.orders", lang, orders=orders, order=of.order),
        *([say("writing.longest", lang)] if of.order == HIGHEST else []),
        say("writing.below" if ours < counted else "writing.not_below", lang, difference=f"{abs(counted - ours):.4f}"),
        *([say("judge.apart", lang, apart=", ".join(of.apart))] if of.apart else []),
        say("judge.test_read" if of.split == "test" else "judge.read", lang, count=of.readings, split=of.split),
    ]
