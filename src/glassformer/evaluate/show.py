"""How an evaluation looks: a line for each group and for all together, then what makes the numbers comparable."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassformer.evaluate.scores import Scores
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.evaluate.translation import TranslationEvaluation

WIDTH = 140
COLUMNS = ("group", "sentences", "bleu", "chrf", "ter", "exact", "loss", "perplexity")


def tables(of: TranslationEvaluation, lang: str | None = None) -> RenderableType:
    """Everything, for a terminal."""
    table = Table(title=title(of, lang), title_justify="left", header_style="bold")
    for number, name in enumerate(columns(of, lang)):
        table.add_column(name, justify="right" if number else "left")
    for cells, bold in rows(of, lang):
        table.add_row(*(Text(cell) for cell in cells), style="bold" if bold else None)
    parts: list[RenderableType] = [table, *(Text(note) for note in notes(of, lang))]
    if of.forensics:
        side = Table(title=say("judge.forensics", lang), title_justify="left", header_style="bold")
        for key in ("bleu", "convention", "signature"):
            side.add_column(say(f"judge.{key}", lang), justify="right" if key == "bleu" else "left", overflow="fold")
        for row in forensic_rows(of, lang):
            side.add_row(*(Text(cell) for cell in row))
        parts.append(side)
    return Group(*parts)


def title(of: TranslationEvaluation, lang: str | None) -> str:
    return say("judge.title", lang, run=of.folder.name, split=of.split, checkpoint=of.checkpoint)


def columns(of: TranslationEvaluation, lang: str | None) -> list[str]:
    more = ("characters",) if of.total.characters is not None else ()
    return [say(f"judge.{key}", lang) for key in (*COLUMNS, *more)]


def rows(of: TranslationEvaluation, lang: str | None) -> Iterator[tuple[list[str], bool]]:
    """The cells of every line, and whether it is the main one."""
    if len(of.groups) > 1:
        for name, scores in of.groups.items():
            yield [name, *_cells(scores)], False
    name = of.split
    if len(of.groups) > 1:
        name = say("judge.all_but", lang, apart=", ".join(of.apart)) if of.apart else say("judge.all", lang)
    yield [name, *_cells(of.total)], True


def _cells(scores: Scores) -> list[str]:
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


def html(of: TranslationEvaluation, lang: str | None = None) -> str:
    """The same for a notebook."""

    def line(cells: list[str], tag: str = "td") -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = [line(columns(of, lang), "th"), *(line(cells, "th" if bold else "td") for cells, bold in rows(of, lang))]
    table = f"<table><caption>{escape(title(of, lang))}</caption>{''.join(body)}</table>"
    side = "".join(line(row) for row in forensic_rows(of, lang))
    below = "".join(f"<p>{escape(note)}</p>" for note in notes(of, lang))
    return table + below + (f"<table>{side}</table>" if side else "")
