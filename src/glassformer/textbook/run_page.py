"""The chapter of a run as HTML and as Markdown: the same parts in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from glassformer.files import disk, write_bytes
from glassformer.show import minus
from glassformer.show.figure import as_png, as_svg
from glassformer.show.theme import LIGHT, styled
from glassformer.textbook.cards import Say, figure
from glassformer.textbook.predicted import Card, PredictedRow
from glassformer.textbook.prose import boxed
from glassformer.textbook.run import RunChapter
from glassformer.textbook.run_pictures import Draughtsman
from glassformer.training.status import duration
from glassformer.words import say

MOST_SAMPLES = 6


def run_html(chapter: RunChapter, card: Card | None, words: Say) -> str:
    title = escape(words("run.title"))
    parts = [
        f'<section class="page" id="run" data-find="{title}"><h2>{title}</h2>',
        f"<p><code>{escape(chapter.run.folder.name)}</code> · {escape(_about(chapter, words))}</p>",
        _status(chapter, words),
        *(_figure(name, svg, words) for name, svg in pictures(chapter, words.lang).items()),
        _table(words("run.samples", step=f"{chapter.sampled[0]:,}"), *_samples(chapter, words)),
        "" if card is None else _card(card, words),
    ]
    return "\n".join(parts) + "</section>"


def _about(chapter: RunChapter, words: Say) -> str:
    return words("run.going" if chapter.running else "run.ended")


def _status(chapter: RunChapter, words: Say) -> str:
    rows = chapter.status(words.lang).items()
    return '<dl class="status">' + "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in rows) + "</dl>"


def pictures(chapter: RunChapter, lang: str) -> dict[str, str]:
    """Each as SVG."""
    found = {}
    with styled(LIGHT, lang):
        for name, make in Draughtsman(chapter, lang).figures().items():
            found[name] = as_svg(make(), f"run-{name}", lang, say(f"report.run.pictures.{name}", lang))
    return found


def _figure(name: str, svg: str, words: Say) -> str:
    caption = words(f"run.pictures.{name}")
    return f'<div id="run-{name}">{figure(svg, caption, escape(caption), words)}</div>'


def _samples(chapter: RunChapter, words: Say) -> tuple[list[str], list[list[str]]]:
    samples = chapter.sampled[1][:MOST_SAMPLES]
    columns = [say(f"watch.sample.{key}", words.lang) for key in samples[0]] if samples else []
    return columns, [list(sample.values()) for sample in samples]


def _table(title: str, columns: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<h3>{escape(title)}</h3>{boxed(table)}"


def _card(card: Card, words: Say) -> str:
    about = escape(card_about(card, words))
    return f'<div id="predicted">{_table(words("predicted.title"), *card_rows(card, words))}<p>{about}</p></div>'


def card_about(card: Card, words: Say) -> str:
    return words("predicted.about", batch=card.batch, length=card.length, share=f"{card.utilisation:.0%}")


def card_rows(card: Card, words: Say) -> tuple[list[str], list[list[str]]]:
    columns = [words(f"predicted.{column}") for column in ("what", "before", "after", "error")]
    return columns, [
        [words(f"predicted.{row.name}"), shown(row, row.predicted), shown(row, row.measured), _error(row)]
        for row in card.rows
    ]


def shown(row: PredictedRow, value: float | None) -> str:
    if value is None:
        return "–"
    if row.name == "seconds":
        return duration(value)
    if row.name == "memory":
        return f"{value / 2**20:,.1f} MiB"
    return f"{value:,.0f}"


def _error(row: PredictedRow) -> str:
    return "–" if row.error is None else minus(f"{100 * round(row.error, 3) + 0.0:+.1f}%")


# --- Markdown ---


def run_markdown(chapter: RunChapter, card: Card | None, words: Say, out: Path) -> Iterator[str]:
    yield f"## {words('run.title')}"
    yield f"`{chapter.run.folder.name}` · {_about(chapter, words)}"
    yield _lines(["", ""], [list(row) for row in chapter.status(words.lang).items()])
    for name in write_pictures(chapter, words.lang, out):
        caption = words(f"run.pictures.{name}")
        yield f"![{caption}](pictures/{words.lang}/{name}.png)\n\n{caption}"
    columns, rows = _samples(chapter, words)
    if rows:
        yield f"### {words('run.samples', step=f'{chapter.sampled[0]:,}')}"
        yield _lines(columns, rows)
    if card is not None:
        yield f"### {words('predicted.title')}"
        yield _lines(*card_rows(card, words))
        yield card_about(card, words)


def write_pictures(chapter: RunChapter, lang: str, out: Path) -> list[str]:
    """pictures/LANG/loss_curves.png …; their names."""
    folder, names = out / "pictures" / lang, []
    with disk(folder), styled(LIGHT, lang):
        folder.mkdir(parents=True, exist_ok=True)
        for name, make in Draughtsman(chapter, lang).figures().items():
            write_bytes(folder / f"{name}.png", as_png(make(), lang), durable=False)
            names.append(name)
    return names


def _lines(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
