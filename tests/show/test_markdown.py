from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.lessons.catalogue import LESSONS
from glassformer.lessons.texts import tables
from glassformer.show import Column, Table, as_text, prose_and_tables
from glassformer.words import LANGUAGES

TEXT = """Before **it**.

| model | `n` | size |
|---|---|---:|
| a \\| b | **two** words | 2,333,186,457,600 |
| c |

After it: |A|+|G|.
"""
words = st.text("abc1239,.|", min_size=1, max_size=12).filter(lambda text: text.strip(",. ") == text)


def test_a_text_is_read_as_prose_and_tables() -> None:
    before, table, after = prose_and_tables(TEXT)
    assert (before, after) == ("Before **it**.", "After it: |A|+|G|.")
    assert isinstance(table, Table)
    assert [column.title for column in table.columns] == ["model", "n", "size"]
    assert [column.kind for column in table.columns] == ["text", "text", "number"]
    assert [row.cells for row in table.rows] == [("a | b", "two words", "2,333,186,457,600"), ("c", "", "")]


@pytest.mark.parametrize("columns", [20, 40, 60, 80])
def test_no_number_is_cut(columns: int) -> None:
    drawn = "".join(as_text(part, columns) for part in prose_and_tables(TEXT) if isinstance(part, Table))
    assert "2,333,186,457,600" in drawn


def test_a_text_without_a_table_stays_as_it_is() -> None:
    assert list(prose_and_tables("one\n\ntwo | three |\n")) == ["one\n\ntwo | three |"]
    assert list(prose_and_tables("\n")) == []


@given(st.lists(st.tuples(words, words), min_size=1, max_size=4))
def test_what_is_written_is_read_again(rows: list[tuple[str, str]]) -> None:
    table = Table(Column("first"), Column("second", "number"))
    for row in rows:
        table.add(*row)
    (again,) = prose_and_tables(table.to_markdown())
    assert isinstance(again, Table) and [row.cells for row in again.rows] == rows


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", LESSONS)
def test_no_line_of_a_table_is_left_in_a_lesson(name: str, lang: str) -> None:
    for depth in ("easy", "deep"):
        prose = [part for part in prose_and_tables(tables(lang, "lessons", name)[depth]) if isinstance(part, str)]
        assert not [line for part in prose for line in part.splitlines() if line.startswith("|")]
