"""The table that all results use. It never cuts a number or a name to type: a narrow terminal gets another layout.

In this order: prose is wrapped at spaces; optional columns are left out and named below; sizes are rounded and marked
(≈ 2.33 T); or each row becomes a block of lines. Totals hidden by this are given exactly below the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as Drawn
from rich.text import Text

from glassformer.show.signs import minus
from glassformer.show.template import TEMPLATES, broken, render
from glassformer.show.width import longest, width, wrap
from glassformer.words import say

if TYPE_CHECKING:
    from markupsafe import Markup

ColumnKind = Literal["name", "text", "number", "size", "series"]
READABLE = 16  # least width of prose: less would be one word per line
FEWEST = 26  # least width of a series: three numbers and a sign that there are more
UNITS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


class Styled(NamedTuple):
    """A cell in a colour."""

    text: str
    style: str


Cell = str | int | Styled


@dataclass(frozen=True)
class Column:
    """The title of a column, its kind, and when to leave it out.

    Kinds. `name`: what users type or look a row up by, never split. `text`: prose or a formula, split at spaces.
    `number`: never split. `size`: an integer, rounded if there is no room. `series`: lines of numbers, shortened to the
    first few if there is no room. `drop`: 1 is left out first; 0 always stays.
    """

    title: str = ""
    kind: ColumnKind = "text"
    drop: int = 0

    @property
    def right(self) -> bool:
        return self.kind in ("number", "size")


class Row(NamedTuple):
    """The cells of a line, as printed."""

    cells: tuple[Cell, ...]
    bold: bool = False


class TableLayout(NamedTuple):
    """Which columns are drawn, how wide each is, and whether sizes are rounded."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]
    rounded: bool = False


class Table:
    """Columns, rows, totals. Shows itself in a terminal, in a notebook (`to_html`) and as Markdown (`to_markdown`)."""

    def __init__(self, *columns: Column, title: str = "", lines: bool = False, lang: str | None = None) -> None:
        self.columns, self.title, self.lines, self.lang = columns, title, lines, lang
        self.rows: list[Row] = []
        self.totals: list[Row] = []

    def add(self, *cells: Cell, bold: bool = False) -> None:
        assert len(cells) == len(self.columns)
        self.rows.append(Row(cells, bold))

    def total(self, *cells: Cell) -> None:
        """Adds a sum over the rows: below a line, in bold, always shown."""
        assert len(cells) == len(self.columns)
        self.totals.append(Row(cells, bold=True))

    @property
    def has_header(self) -> bool:
        return any(column.title for column in self.columns)

    # --- in a terminal ---

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = options.max_width
        if not self.columns:
            return
        if self.title:
            yield _text("\n".join(wrap(self.title, columns)), "bold")
        layout = self.layout(columns)
        if layout is None:
            yield from self._blocks(columns)
            return
        yield self._drawn(layout)
        for note in self._notes(layout):
            yield _text("\n".join(wrap(note, columns)), "dim")

    def layout(self, columns: int) -> TableLayout | None:
        """The first layout that fits this width; None: only blocks fit."""
        kept = tuple(range(len(self.columns)))
        ways = [TableLayout(kept, ())]
        for level in sorted({column.drop for column in self.columns if column.drop}):
            kept = tuple(i for i in kept if self.columns[i].drop != level)
            ways.append(TableLayout(kept, ()))
        ways.append(TableLayout(kept, (), rounded=True))
        for way in ways:
            widths = self._widths(way, columns)
            if widths is not None:
                return way._replace(widths=widths)
        return None

    def _widths(self, way: TableLayout, columns: int) -> tuple[int, ...] | None:
        """Each column gets its least width; the rest goes to those that want more, narrow ones first."""
        least, most = zip(*(self._bounds(i, way.rounded) for i in way.columns), strict=True)
        left = columns - 3 * len(least) - 1  # a border and two spaces for each
        if sum(least) > left:
            return None
        level = max(most)
        while sum(_between(low, level, high) for low, high in zip(least, most, strict=True)) > left:
            level -= 1
        return tuple(_between(low, level, high) for low, high in zip(least, most, strict=True))

    def _bounds(self, index: int, rounded: bool) -> tuple[int, int]:
        """The least and the preferred width of a column."""
        column = self.columns[index]
        cells = [self._said(row, index, rounded) for row in (*self.rows, *self.totals)]
        most = max(map(width, cells), default=0)
        match column.kind:
            case "text":
                least = max(min(most, READABLE), *map(longest, cells)) if cells else 0
            case "series":
                least = min(most, FEWEST)
            case _:
                least = most
        return max(least, longest(column.title)), max(most, width(column.title))

    def _said(self, row: Row, index: int, rounded: bool = False) -> str:
        cell, kind = row.cells[index], self.columns[index].kind
        if isinstance(cell, int):
            return minus(about(cell) if rounded and kind == "size" else f"{cell:,}")
        said = cell.text if isinstance(cell, Styled) else cell
        return minus(said) if kind in ("number", "size", "series") else said

    def _drawn(self, layout: TableLayout) -> Drawn:
        drawn = Drawn(show_header=self.has_header, header_style="bold", show_lines=self.lines)
        for index, room in zip(layout.columns, layout.widths, strict=True):
            column = self.columns[index]
            title = Text("\n".join(wrap(column.title, room)))
            side: Literal["left", "right"] = "right" if column.right else "left"
            drawn.add_column(title, justify=side, width=room, no_wrap=True, overflow="fold")
        for rows in (self.rows, self.totals):
            for row in rows:
                cells = (self._cell(row, *place, layout.rounded) for place in zip(*layout[:2], strict=True))
                drawn.add_row(*cells, style="bold" if row.bold else None)
            drawn.add_section()
        return drawn

    def _cell(self, row: Row, index: int, room: int, rounded: bool) -> Text:
        cell, said = row.cells[index], self._said(row, index, rounded)
        match self.columns[index].kind:
            case "text":
                said = "\n".join(wrap(said, room))
            case "series":
                said = "\n".join(first_of(line, room) for line in said.split("\n"))
        return Text(said, style=cell.style if isinstance(cell, Styled) else "")

    def _notes(self, layout: TableLayout) -> Iterator[str]:
        """Notes on what a layout leaves out, with the exact totals of columns left out or rounded."""
        gone = [column.title for i, column in enumerate(self.columns) if i not in layout.columns]
        if gone:
            yield say("table.dropped", self.lang, columns=", ".join(gone))
        if layout.rounded and any(column.kind == "size" for column in self.columns):
            yield say("table.rounded", self.lang)
        for row in self.totals:
            hidden = [self._exactly(row, i) for i in range(len(self.columns)) if self._hides(row, i, layout)]
            if hidden:
                yield "; ".join((self._said(row, 0).strip(), *hidden))

    def _hides(self, row: Row, index: int, layout: TableLayout) -> bool:
        """Whether a total is rounded, or in a column that is left out."""
        gone = index not in layout.columns
        rounded = layout.rounded and self.columns[index].kind == "size"
        return self.columns[index].right and (gone or rounded) and bool(self._said(row, index).strip())

    def _exactly(self, row: Row, index: int) -> str:
        return f"{self.columns[index].title} {self._said(row, index)}"

    def _blocks(self, columns: int) -> Iterator[Text]:
        """One block for each row: its name, and below it a line for each column."""
        for row in (*self.rows, *self.totals):
            for index in range(len(self.columns)):
                yield from self._entry(row, index, columns)

    def _entry(self, row: Row, index: int, columns: int) -> Iterator[Text]:
        cell, said, column = row.cells[index], self._said(row, index), self.columns[index]
        style = cell.style if isinstance(cell, Styled) else ""
        if index == 0:
            lines = wrap(said.strip(), columns, hang=2) if column.kind == "text" else [said.strip()]
            yield _text("\n".join(lines), style or "bold")
            return
        if not said.strip():
            return
        if column.kind == "series":
            said = "\n".join(first_of(line, columns - 4) for line in said.split("\n"))
        label = f"  {column.title}: " if column.title else "  "
        if "\n" in said or (column.kind != "text" and width(label + said) > columns):
            label, said = label.rstrip(), "\n".join("    " + line.strip() for line in said.split("\n"))
            whole = f"{label}\n{said}" if label else said
        else:
            whole = label + said.strip()
        lines = wrap(whole, columns, hang=2) if column.kind == "text" else whole.split("\n")
        yield _text("\n".join(lines), style)

    # --- elsewhere ---

    def to_html(self, *, caption: bool = True) -> Markup:
        """For a notebook or a page: every column, exact. `caption=False` if a heading has the title already."""

        def cells(row: Row) -> list[tuple[Markup, str]]:
            styles = (_style(column.right, row.bold) for column in self.columns)
            return [(_html(self._said(row, index)), style) for index, style in enumerate(styles)]

        values = {
            "title": self.title if caption else "",
            "titles": [(_html(column.title), "") for column in self.columns] if self.has_header else [],
            "rows": list(map(cells, self.rows)),
            "totals": list(map(cells, self.totals)),
        }
        return render(TEMPLATES / "table.html", values)

    def to_markdown(self) -> str:
        """For a document: every column, exact."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells) + " |"

        sides = ["---:" if column.right else "---" for column in self.columns]
        rows = [[self._said(row, i) for i in range(len(self.columns))] for row in (*self.rows, *self.totals)]
        return "\n".join(map(line, ([column.title for column in self.columns], sides, *rows)))


def about(number: int) -> str:
    """≈ 2.33 T: three digits and a unit; numbers of up to three digits stay exact."""
    for size, unit in UNITS:
        if abs(number) >= size:
            digits = f"{number / size:.3g}"
            return f"≈ {digits} {unit}" if "e" not in digits else f"≈ {number / size:,.0f} {unit}"
    return f"{number:,}"


def first_of(line: str, room: int) -> str:
    """As many complete numbers of a line as fit, and a sign if there are more."""
    if width(line) <= room:
        return line
    kept = ""
    for number in line.split():
        if number == "…" or width(f"{kept}{number}  …") > room:
            break
        kept += f"{number}  "
    return f"{kept}…"


def _between(low: int, level: int, high: int) -> int:
    return max(low, min(level, high))


def _text(said: str, style: str = "") -> Text:
    return Text(said, style=style, no_wrap=True, overflow="ignore")


def _style(right: bool, bold: bool) -> str:
    rules = [*(["text-align:right"] if right else []), *(["font-weight:bold"] if bold else [])]
    return ";".join(rules)


def _html(said: str) -> Markup:
    """A cell as HTML, indented as in a terminal."""
    from markupsafe import Markup

    inset = len(said) - len(said.lstrip(" "))
    return Markup("&nbsp;") * inset + broken(said[inset:])
