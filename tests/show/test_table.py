"""The table: what it does where there is too little room, and what it never does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from glassformer.show import Column, Styled, Table, as_text, minus
from glassformer.show.table import about, first_of

COUNTED = 2_333_186_457_600


def ledger(**keys: str) -> Table:
    table = Table(
        Column("part"),
        Column("formula", drop=2),
        Column("parameters", "size"),
        Column("FLOPs forward", "size"),
        Column("share", "number", drop=1),
        title="gpt2",
        lang=keys.get("lang", "en"),
    )
    table.add("token embedding", "v d_model = 50,257 × 768", 38_597_376, COUNTED, "31.0 %")
    table.add("all the blocks, twelve of them", "12 × 7,087,872", 85_054_464, COUNTED, "69.0 %", bold=True)
    table.total("total", "", 123_651_840, 2 * COUNTED, "")
    return table


def columns_of(drawn: str) -> str:
    return next(line for line in drawn.splitlines() if "part" in line)


def test_with_room_every_column_is_there() -> None:
    drawn = as_text(ledger(), 200)
    assert all(title in columns_of(drawn) for title in ("part", "formula", "parameters", "FLOPs forward", "share"))
    assert "Not shown" not in drawn


def test_first_prose_is_wrapped_at_blanks() -> None:
    drawn = as_text(ledger(), 96)
    assert "share" in columns_of(drawn)
    assert "token embedding" in drawn
    assert "all the blocks, twelve of them" not in drawn
    assert "2,333,186,457,600" in drawn


def test_then_columns_go_in_their_order_and_are_named() -> None:
    drawn = as_text(ledger(), 80)
    assert "formula" in columns_of(drawn)
    assert "share" not in columns_of(drawn)
    assert "Not shown at this width: share." in drawn
    drawn = as_text(ledger(), 60)
    assert "formula" not in columns_of(drawn)
    assert "Not shown at this width: formula, share." in drawn


def test_then_sizes_are_rounded_and_marked_and_the_totals_stay_exact() -> None:
    drawn = as_text(ledger(), 52)
    assert "≈ 2.33 T" in drawn
    assert "≈ 38.6 M" in drawn
    assert "2,333,186,457,600" not in drawn
    assert "total; parameters 123,651,840; FLOPs forward" in drawn
    assert f"{2 * COUNTED:,}" in drawn


def test_the_total_of_a_column_that_is_left_out_stands_below() -> None:
    table = Table(Column("part"), Column("parameters", "size"), Column("buffers", "size", drop=1), lang="en")
    table.add("embedding", 18_944_000, 2_560_000)
    table.total("total", 63_082_496, 5_120_000)
    drawn = as_text(table, 32).splitlines()
    assert "buffers" not in columns_of("\n".join(drawn))
    assert drawn[-1] == "total; buffers 5,120,000"


@pytest.mark.parametrize("columns", range(14, 60))
def test_an_indented_name_stays_whole(columns: int) -> None:
    table = Table(Column("part"), Column("FLOPs", "size"), lang="en")
    table.add("    self_attention.scores", 269_000_000)
    assert "self_attention.scores" in as_text(table, columns)


def test_at_last_each_row_is_a_block() -> None:
    drawn = as_text(ledger(), 30)
    lines = drawn.splitlines()
    assert "token embedding" in lines
    assert "  parameters: 38,597,376" in lines
    assert "    2,333,186,457,600" in lines
    assert "  share: 31.0 %" in lines
    assert "  parameters: 123,651,840" in lines  # the total is a block too
    assert "≈" not in drawn


def test_korean_titles_and_notes() -> None:
    assert "이 너비에서는 보이지 않는 열: share." in as_text(ledger(lang="ko"), 80)


@pytest.mark.parametrize("columns", [24, 40, 60, 80, 100, 200])
def test_hangul_counts_two_columns(columns: int) -> None:
    table = Table(Column("이름", "name"), Column("설명"), Column("값", "number"))
    table.add("norm_order", "잔차 연결 앞이나 뒤에 정규화를 둡니다", "1,234.5")
    table.add("가나다", "짧은 말", "2")
    drawn = as_text(table, columns)
    assert max(map(cell_len, drawn.splitlines())) <= columns
    frames = {cell_len(line) for line in drawn.splitlines() if line and line[0] in "┏┃┡│└"}
    assert len(frames) <= 1  # the right border is straight


def test_a_name_wider_than_the_terminal_stays_whole() -> None:
    table = Table(Column("name", "name"), Column("size", "number"))
    table.add("a-very-long-name-that-one-must-type", "12")
    assert as_text(table, 20).splitlines() == ["a-very-long-name-that-one-must-type", "  size: 12"]


def test_a_series_is_shortened_between_numbers() -> None:
    line = "+0.123  -0.456  +1.000  -2.500  +3.250"
    assert first_of(line, len(line)) == line
    assert first_of(line, 30) == "+0.123  -0.456  +1.000  …"
    assert first_of("+0.123  -0.456  …", 16) == "+0.123  …"
    table = Table(Column("step", "name"), Column("values", "series"))
    table.add("Q", f"{line}\n{line}")
    drawn = as_text(table, 40)
    assert drawn.count("+0.123  −0.456  +1.000  …") == 2


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "≈ 1 k"),
        (38_597_376, "≈ 38.6 M"),
        (COUNTED, "≈ 2.33 T"),
        (999_999, "≈ 1,000 k"),
        (10**17, "≈ 100,000 T"),
        (-4096, "≈ -4.1 k"),
    ],
)
def test_about(number: int, said: str) -> None:
    assert about(number) == said


def test_colours_are_no_part_of_the_text() -> None:
    table = Table(Column("", "name"), Column(""))
    table.add(Styled("✓", "green"), "torch")
    assert [line for line in as_text(table, 40).splitlines() if "torch" in line] == ["│ ✓ │ torch │"]


def test_html_has_every_column_exact_and_escaped() -> None:
    table = ledger()
    table.add("  <i>", "a\nb", 1, 2, "")
    page = table.to_html()
    assert "<caption>gpt2</caption>" in page
    assert page.count("<th>") == 5
    assert '<td style="text-align:right">2,333,186,457,600</td>' in page
    assert "&nbsp;&nbsp;&lt;i&gt;" in page
    assert "a<br>b" in page
    assert re.search(r"<tfoot>.*123,651,840.*</tfoot>", page)


def test_markdown_has_every_column_exact() -> None:
    lines = ledger().to_markdown().splitlines()
    assert lines[0] == "| part | formula | parameters | FLOPs forward | share |"
    assert lines[1] == "| --- | --- | ---: | ---: | ---: |"
    assert lines[-1] == "| total |  | 123,651,840 | 4,666,372,915,200 |  |"


CELLS = st.text(st.sampled_from("ab 나-0.9,"), max_size=24)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(
        st.tuples(CELLS, CELLS, st.integers(0, 10**15), st.floats(-1e6, 1e6).map("{:.3f}".format)), max_size=5
    ),
    columns=st.integers(10, 160),
)
def test_no_number_is_ever_cut(rows: list[tuple[str, str, int, str]], columns: int) -> None:
    """In any width each number stands whole, is marked as rounded, or its column is named as left out."""
    table = Table(
        Column("name", "name"), Column("what"), Column("amount", "size"), Column("much", "number", drop=1), lang="en"
    )
    for row in rows:
        table.add(*row)
    drawn = as_text(table, columns)
    words = set(re.findall(r"[^\s│┃]+", drawn))
    for name, what, amount, much in rows:
        assert name.strip() in drawn
        assert set(what.split()) <= words
        assert f"{amount:,}" in words or about(amount) in drawn
        assert minus(much) in words or "Not shown at this width: much." in " ".join(drawn.split())
