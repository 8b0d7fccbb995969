from __future__ import annotations

from rich.table import Table

from glassformer.evaluate.render import as_html, as_text


def table() -> Table:
    made = Table("a<b", "n")
    made.add_row("x & y", "1")
    return made


def test_plain_text_without_colours() -> None:
    assert "x & y" in as_text(table()) and "\x1b" not in as_text(table())


def test_html_is_escaped() -> None:
    html = as_html(table())
    assert html.startswith("<pre>") and "a&lt;b" in html and "x &amp; y" in html and "<b" not in html
