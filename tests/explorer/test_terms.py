from __future__ import annotations

import pytest

from glassformer.explorer.terms import Term, summed


def test_the_largest_terms_are_written_out_and_all_are_summed() -> None:
    found = summed([Term(str(i), i / 2, (0.5, float(i))) for i in range(-3, 4)] + [Term("b", 0.25)])
    assert found.result == pytest.approx(0.25)
    assert found.filled == "0.5 · (−3) + 0.5 · 3 + 0.5 · (−2) + 0.5 · 2 + …"


def test_no_two_signs_meet() -> None:
    assert summed([Term("0", -3.0), Term("1", 2.0), Term("2", -1.0)]).filled == "−3 + 2 − 1"
    assert summed([Term("0", 6.0, (-2.0, -3.0))]).filled == "−2 · (−3)"
    assert summed([]).filled == ""
