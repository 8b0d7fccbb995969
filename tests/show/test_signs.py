"""Numbers below nought have a minus, in every table."""

from __future__ import annotations

import pytest

from glassformer.bench.record import markdown
from glassformer.show import Column, Table, as_text, minus
from glassformer.show.signs import format_value, typeset


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
    for text in (as_text(table), table.to_html(), table.to_markdown()):
        assert all(number in text for number in ("−0.5", "−1,234", "−2.0"))
        assert "−1 " not in text.replace("−1,234", "")
        assert "-1" in text


def test_the_tables_of_the_documents_print_it() -> None:
    assert "| −3.0 % |" in markdown("table3", "ko")
    assert "-3.0" not in markdown("table3", "en")


def test_what_is_not_finite_is_a_dash() -> None:
    assert (format_value(1.25e-7, ".1e"), format_value(3e22, ".0e"), format_value(-1e-5, "g")) == (
        "1.2×10⁻⁷",
        "3×10²²",
        "−1×10⁻⁵",
    )
    assert format_value("step 1e-05x", "") == "step 1e-05x"
    assert (format_value(None, ".3f"), format_value(1234.5, ",.0f"), format_value("a", "")) == ("–", "1,234", "a")


def test_a_minus_is_no_hyphen() -> None:
    assert (typeset("-0.58, ko-en, 2024-01-02, (-3), +1, -.5"), format_value(-2.5, "+.1f")) == (
        "−0.58, ko-en, 2024-01-02, (−3), +1, −.5",
        "−2.5",
    )
