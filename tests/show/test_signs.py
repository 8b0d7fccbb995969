"""Numbers below nought have a minus, in every table."""

from __future__ import annotations

import pytest

from glassformer.bench.record import markdown
from glassformer.show import Column, Table, as_text, minus


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("-3.0 %", "−3.0 %"),
        ("5,638 (-2.2 %)", "5,638 (−2.2 %)"),
        ("[-.5, -1]", "[−.5, −1]"),
        ("+0.2", "+0.2"),
        ("ko-en", "ko-en"),
        ("2024-01-31", "2024-01-31"),
        ("1e-05", "1e-05"),
        ("--beam 4", "--beam 4"),
        ("gpt-2", "gpt-2"),
    ],
)
def test_only_the_hyphen_before_a_number_is_a_minus(typed: str, printed: str) -> None:
    assert minus(typed) == printed


def test_a_table_prints_it_in_numbers_and_leaves_names_alone() -> None:
    table = Table(Column("name", "name"), Column("gain", "number"), Column("size", "size"), Column("x", "series"))
    table.add("-1", "-0.5", -1234, "+1.0  -2.0")
    for shown in (as_text(table), table.to_html(), table.to_markdown()):
        assert all(number in shown for number in ("−0.5", "−1,234", "−2.0"))
        assert "−1 " not in shown.replace("−1,234", "")
        assert "-1" in shown


def test_the_tables_of_the_documents_print_it() -> None:
    assert "| −3.0 % |" in markdown("table3", "ko")
    assert "-3.0" not in markdown("table3", "en")
