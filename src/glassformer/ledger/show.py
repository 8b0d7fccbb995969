"""How the ledger looks: one list of lines, drawn as a table in a terminal and as HTML in a notebook."""

from __future__ import annotations

import html as _html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from glassformer.account import Row
from glassformer.words import say

_BLOCK = re.compile(r"^(.*)\.blocks\.(\d+)\.(.+)$")


class Place(NamedTuple):
    """Where a part of a block stands: in which stack and layer, and its path inside the block."""

    stack: str
    layer: str
    inside: str


def place(path: str) -> Place:
    """The place of a part by its path; a part outside of the blocks has no stack."""
    found = _BLOCK.match(path)
    return Place(*found.groups()) if found else Place("", "", path)


@dataclass(frozen=True)
class Line:
    """One line of the table. `level` 0 is a part of the model, 1 a part of one layer."""

    level: int
    label: str
    formula: str
    parameters: int
    trained: int
    buffers: int
    is_sum: bool = False


def lines(rows: Sequence[Row], lang: str | None) -> Iterator[Line]:
    """Rows in order; the layers of a stack, all alike, are shown once with their number."""
    for stack, group in groupby(rows, key=lambda row: place(row.name).stack):
        if not stack:
            yield from (_line(row, 0, lang) for row in group)
            continue
        layers = [list(rows) for _, rows in groupby(group, key=lambda row: place(row.name).layer)]
        one = layers[0]
        title = "single_layer" if len(layers) == 1 else "one_layer"
        yield _sum(say(f"ledger.{title}", lang, stack=say(f"boxes.{stack}", lang), layers=len(layers)), 0, one)
        for box, inside in groupby(one, key=lambda row: place(row.name).inside.partition(".")[0]):
            rows_of_box = list(inside)
            yield from (_line(row, 1, lang) for row in rows_of_box)
            if len(rows_of_box) > 1:
                yield _sum(say(f"boxes.{box}", lang), 1, rows_of_box, _joined(rows_of_box))
        if len(layers) > 1:
            every = [row for layer in layers for row in layer]
            formula = f"{len(layers)}×{sum(row.parameters for row in one):,}"
            yield _sum(
                say("ledger.all_layers", lang, stack=say(f"boxes.{stack}", lang), layers=len(layers)), 0, every, formula
            )


def _line(row: Row, level: int, lang: str | None) -> Line:
    label = say(f"parts.{row.kind}", lang)
    box = row.name.rpartition(".")[2].removesuffix("norm").rstrip("_")
    if row.kind.startswith("norm.") and box:
        label = say("ledger.after", lang, norm=label, box=say(f"boxes.{box}", lang))
    formula = (
        say("ledger.tied", lang, path=row.tied) if row.tied and not row.tensors else f"{row.formula} = {row.numbers}"
    )
    return Line(level, label, formula, row.parameters, row.trained, row.buffers)


def _joined(rows: Sequence[Row]) -> str:
    return " + ".join(f"{row.parameters:,}" for row in rows)


def _sum(label: str, level: int, rows: Sequence[Row], formula: str = "") -> Line:
    parameters = sum(row.parameters for row in rows)
    trained = sum(row.trained for row in rows)
    return Line(level, label, formula, parameters, trained, sum(row.buffers for row in rows), is_sum=True)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


COLUMNS = ("part", "formula", "parameters", "trained", "buffers", "share")


def table(model: str, rows: Sequence[Row], lang: str | None) -> RenderableType:
    """The ledger for a terminal."""
    whole = _sum(say("ledger.total", lang), 0, rows)
    drawn = Table(title=model, title_justify="left", show_footer=True, header_style="bold")
    footers = (whole.label, "", f"{whole.parameters:,}", f"{whole.trained:,}", f"{whole.buffers:,}", "")
    for name, footer in zip(COLUMNS, footers, strict=True):
        text = name in ("part", "formula")
        title = say(f"ledger.{name}", lang)
        drawn.add_column(title, footer, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    for line in lines(rows, lang):
        drawn.add_row(
            Text("  " * line.level + line.label, style="bold" if line.is_sum else ""),
            Text(line.formula),
            f"{line.parameters:,}",
            f"{line.trained:,}",
            f"{line.buffers:,}",
            _share(line.parameters, whole.parameters),
        )
    return drawn


def html(model: str, rows: Sequence[Row], lang: str | None) -> str:
    """The ledger for a notebook."""
    whole = _sum(say("ledger.total", lang), 0, rows)

    def cells(line: Line) -> tuple[str, ...]:
        numbers = (f"{line.parameters:,}", f"{line.trained:,}", f"{line.buffers:,}")
        label = " " * 2 * line.level + line.label
        return (label, line.formula, *numbers, _share(line.parameters, whole.parameters))

    titles = [say(f"ledger.{name}", lang) for name in COLUMNS]
    body = [(cells(line), line.is_sum) for line in lines(rows, lang)]
    return html_table(model, titles, [*body, (cells(whole), True)])


def html_table(caption: str, titles: Sequence[str], rows: Sequence[tuple[Sequence[str], bool]]) -> str:
    """A table for a notebook: name and formula to the left, numbers to the right, sums in bold, the last one below."""

    def line(cells: Sequence[str], is_sum: bool, tag: str = "td") -> str:
        weight = "font-weight:bold;" if is_sum else ""
        sides = ["left"] * 2 + ["right"] * (len(cells) - 2)
        return "".join(
            f'<{tag} style="{weight}text-align:{side}">{_html.escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )

    head = "".join(f"<th>{_html.escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{line(cells, is_sum)}</tr>" for cells, is_sum in rows[:-1])
    return (
        f"<table><caption>{_html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody><tfoot><tr>{line(rows[-1][0], True, 'th')}</tr></tfoot></table>"
    )
