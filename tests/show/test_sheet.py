"""Sentences and tables below each other."""

from __future__ import annotations

from rich.text import Text

from glassformer.show import Column, Sheet, Styled, Table, as_html, as_text


def test_sentences_are_wrapped_at_blanks_and_numbers_stay_whole() -> None:
    sheet = Sheet(Styled("a title", "bold"), "it holds 2,333,186,457,600 FLOPs in all")
    assert as_text(sheet, 22).splitlines() == ["a title", "it holds", "2,333,186,457,600", "FLOPs in all"]


def test_brackets_are_just_brackets() -> None:
    assert as_text(Sheet("[model] [red]x[/red] :smile:"), 80) == "[model] [red]x[/red] :smile:\n"


def test_a_sheet_in_a_notebook() -> None:
    table = Table(Column("n", "number"))
    table.add(3)
    page = as_html("a < b", Sheet(Styled("t", "bold"), table), Text("<plain>"))
    assert page.startswith("<p>a &lt; b</p><p><b>t</b></p><table>")
    assert page.endswith("<pre>&lt;plain&gt;\n</pre>")
