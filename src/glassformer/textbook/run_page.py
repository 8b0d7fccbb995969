"""The chapter of a run as HTML and as Markdown: the same parts in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from markupsafe import Markup

from glassformer.files import disk, write_bytes
from glassformer.show import Column, Table, minus
from glassformer.show.figure import as_png, as_svg
from glassformer.show.template import render
from glassformer.show.theme import LIGHT, styled
from glassformer.textbook.book import PAGES, Say
from glassformer.textbook.predicted import Card, PredictedRow
from glassformer.textbook.run import RunChapter
from glassformer.textbook.run_pictures import Draughtsman
from glassformer.training.status import clock_duration
from glassformer.words import say

MOST_SAMPLES = 6


def run_html(chapter: RunChapter, card: Card | None, words: Say) -> Markup:
    values = {
        "words": words,
        "name": chapter.run.folder.name,
        "about": _about(chapter, words),
        "status": chapter.status(words.lang),
        "pictures": pictures(chapter, words.lang),
        "samples": samples_table(chapter, words),
        "predicted": None if card is None else card_table(card, words),
        "assumed": "" if card is None else assumed(card, words),
    }
    return render(PAGES / "run.html", values)


def run_markdown(chapter: RunChapter, card: Card | None, words: Say, out: Path) -> Iterator[str]:
    yield f"## {words('run.title')}"
    yield f"`{chapter.run.folder.name}` · {_about(chapter, words)}"
    yield _status_table(chapter, words).to_markdown()
    for name in write_pictures(chapter, words.lang, out):
        caption = words(f"run.pictures.{name}")
        yield f"![{caption}](pictures/{words.lang}/{name}.png)\n\n{caption}"
    samples = samples_table(chapter, words)
    if samples.rows:
        yield f"### {samples.title}"
        yield samples.to_markdown()
    if card is not None:
        predicted = card_table(card, words)
        yield f"### {predicted.title}"
        yield predicted.to_markdown()
        yield assumed(card, words)


def _about(chapter: RunChapter, words: Say) -> str:
    return words("run.going" if chapter.running else "run.ended")


# --- tables, with headings of the page as titles ---


def _status_table(chapter: RunChapter, words: Say) -> Table:
    table = Table(Column(), Column())
    for label, value in chapter.status(words.lang).items():
        table.add(label, value)
    return table


def samples_table(chapter: RunChapter, words: Say) -> Table:
    step, samples = chapter.sampled
    keys = samples[0] if samples else ()
    title = words("run.samples", step=f"{step:,}")
    table = Table(*(Column(say(f"watch.sample.{key}", words.lang)) for key in keys), title=title)
    for sample in samples[:MOST_SAMPLES]:
        table.add(*map(str.strip, sample.values()))  # a model's continuation begins with a space
    return table


def card_table(card: Card, words: Say) -> Table:
    """What the ledger predicted, what was measured, and the error."""
    columns = (Column(words(f"predicted.{column}")) for column in ("what", "before", "after", "error"))
    table = Table(*columns, title=words("predicted.title"))
    for row in card.rows:
        table.add(words(f"predicted.{row.name}"), shown(row, row.predicted), shown(row, row.measured), _error(row))
    return table


def assumed(card: Card, words: Say) -> str:
    return words("predicted.about", batch=card.batch, length=card.length, share=f"{card.utilisation:.0%}")


def shown(row: PredictedRow, value: float | None) -> str:
    if value is None:
        return "–"
    if row.name == "seconds":
        return clock_duration(value)
    if row.name == "memory":
        return f"{value / 2**20:,.1f} MiB"
    return f"{value:,.0f}"


def _error(row: PredictedRow) -> str:
    return "–" if row.error is None else minus(f"{100 * round(row.error, 3) + 0.0:+.1f}%")


# --- pictures ---


def pictures(chapter: RunChapter, lang: str) -> dict[str, str]:
    """Every picture as SVG."""
    found = {}
    with styled(LIGHT, lang):
        for name, make in Draughtsman(chapter, lang).figures().items():
            found[name] = as_svg(make(), f"run-{name}", lang, say(f"report.run.pictures.{name}", lang))
    return found


def write_pictures(chapter: RunChapter, lang: str, out: Path) -> list[str]:
    """Writes pictures/LANG/loss_curves.png …; returns their names."""
    folder, names = out / "pictures" / lang, []
    with disk(folder), styled(LIGHT, lang):
        folder.mkdir(parents=True, exist_ok=True)
        for name, make in Draughtsman(chapter, lang).figures().items():
            write_bytes(folder / f"{name}.png", as_png(make(), lang), durable=False)
            names.append(name)
    return names
