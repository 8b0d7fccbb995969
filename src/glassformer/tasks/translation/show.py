"""How an evaluation looks: a line for each group and for all together, then what makes the numbers comparable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from glassformer.show import Column, Kind, Sheet, Table
from glassformer.tasks.translation.scores import TranslationScores
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.tasks.translation.evaluation import TranslationEvaluation

COLUMNS = ("group", "sentences", "bleu", "chrf", "ter", "exact", "loss", "perplexity")
DROPPED = {"perplexity": 1, "ter": 2, "exact": 3}  # where there is no room: perplexity is e to the loss, and goes first


def tables(of: TranslationEvaluation, lang: str | None = None) -> Sheet:
    """Everything."""
    table = Table(*columns(of, lang), title=title(of, lang), lang=lang)
    for cells, main in rows(of, lang):
        (table.total if main else table.add)(*cells)
    return Sheet(table, *notes(of, lang), *([_forensics(of, lang)] if of.forensics else []))


def _forensics(of: TranslationEvaluation, lang: str | None) -> Table:
    kinds: dict[str, Kind] = {"bleu": "number", "convention": "text", "signature": "text"}
    columns = (Column(say(f"judge.{key}", lang), kind) for key, kind in kinds.items())
    side = Table(*columns, title=say("judge.forensics", lang), lang=lang)
    for row in forensic_rows(of, lang):
        side.add(*row)
    return side


def title(of: TranslationEvaluation, lang: str | None) -> str:
    return say("judge.title", lang, run=of.folder.name, split=of.split, checkpoint=of.checkpoint)


def columns(of: TranslationEvaluation, lang: str | None) -> list[Column]:
    first, *others = [*COLUMNS, *(["characters"] if of.total.characters is not None else [])]
    numbers = (Column(say(f"judge.{key}", lang), "number", DROPPED.get(key, 0)) for key in others)
    return [Column(say(f"judge.{first}", lang), "name"), *numbers]


def rows(of: TranslationEvaluation, lang: str | None) -> Iterator[tuple[list[str], bool]]:
    """The cells of every line, and whether it is the main one."""
    if len(of.groups) > 1:
        for name, scores in of.groups.items():
            yield [name, *_cells(scores)], False
    name = of.split
    if len(of.groups) > 1:
        name = say("judge.all_but", lang, apart=", ".join(of.apart)) if of.apart else say("judge.all", lang)
    yield [name, *_cells(of.total)], True


def _cells(scores: TranslationScores) -> list[str]:
    def ends(value: float, low: float, high: float) -> str:
        return f"{value:.1f} [{low:.1f}–{high:.1f}]"

    cells = [f"{scores.sentences:,}"]
    cells += [ends(score.value, score.low, score.high) for score in (scores.bleu, scores.chrf, scores.ter)]
    exact = scores.exact
    cells += [ends(100 * exact.value, 100 * exact.low, 100 * exact.high)]
    cells += [f"{scores.surprise.nats:.4f}", f"{scores.surprise.perplexity:.4g}"]
    if scores.characters is not None:
        cells.append(ends(scores.characters.value, scores.characters.low, scores.characters.high))
    return cells


def notes(of: TranslationEvaluation, lang: str | None) -> list[str]:
    """What the numbers mean, and how often the split was read."""
    scores = [of.total.bleu, of.total.chrf, of.total.ter]
    scores += [] if of.total.characters is None else [of.total.characters]
    search = of.search
    return [
        say("judge.about", lang),
        *(say("judge.signed", lang, signature=score.signature) for score in scores),
        say("judge.searched", lang, beam=search.beam, norm=search.length_norm, alpha=search.alpha, stop=search.stop),
        *([say("judge.apart", lang, apart=", ".join(of.apart))] if of.apart else []),
        say("judge.test_read" if of.split == "test" else "judge.read", lang, count=of.readings, split=of.split),
    ]


def forensic_rows(of: TranslationEvaluation, lang: str | None) -> Iterator[list[str]]:
    for row in of.forensics:
        value = "–" if row.value is None else f"{row.value:.2f}"
        missing = say("forensics.missing", lang, package=row.missing) if row.missing else row.signature
        yield [value, say(f"forensics.{row.key}", lang), missing]
