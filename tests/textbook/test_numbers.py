from __future__ import annotations

from glassformer.textbook.numbers import MOST, rows


def test_values_under_their_paths() -> None:
    data = {
        "a": 1,
        "b": {"mean": 0.5, "low": 0.25, "high": 0.75, "n": 5, "values": [1, 2]},
        "c": [{"d": None}, {"d": 1 / 3}],
        "e": [1, 2.5],
    }
    assert rows(data) == [
        ("a", "1"),
        ("b", "0.5 [0.25, 0.75], n = 5"),
        ("c.0.d", "–"),
        ("c.1.d", "0.33333"),
        ("e", "1, 2.5"),
    ]


def test_long_lists_and_long_tables_are_cut() -> None:
    assert rows({"a": list(range(50)), "b": [{"c": 1}] * 50}) == []
    assert len(rows({str(i): i for i in range(200)})) == MOST
