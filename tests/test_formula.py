from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.formula import evaluate_formula, in_numbers, symbols, total

VALUES = {"d_model": 32, "d_ff": 48, "n_heads": 4, "a": 7}

products = st.lists(st.sampled_from([*VALUES, "2", "3"]), min_size=1, max_size=3).map("×".join)
sums = st.lists(products, min_size=1, max_size=3).map("+".join)
terms = st.one_of(sums, sums.map(lambda inside: f"2×({inside})"))


@pytest.mark.parametrize(
    ("formula", "number"),
    [
        ("0", 0),
        ("d_model", 32),
        ("3×(d_model×d_model+d_model)", 3_168),
        ("d_model×d_model+d_model", 1_056),
        ("2×d_model", 64),
        ("d_model÷n_heads", 8),
        ("d_model-n_heads", 28),
        ("d_model×(a+1)", 256),
        ("99999999999×99999999999×99999999999", 99999999999**3),
    ],
)
def test_a_formula_gives_its_number(formula: str, number: int) -> None:
    assert evaluate_formula(formula, VALUES) == number


def test_a_symbol_without_a_number_is_refused() -> None:
    with pytest.raises(KeyError, match="d_v"):
        evaluate_formula("n_heads×d_v", VALUES)


@pytest.mark.parametrize("formula", ["open('x')", "d_model.real", "[d_model]", "-d_model", "1.5", "'text'"])
def test_what_is_no_formula_is_refused(formula: str) -> None:
    with pytest.raises(ValueError, match="not a formula"):
        evaluate_formula(formula, VALUES)


def test_symbols_come_once_and_in_order() -> None:
    assert symbols("3×(d_model×d_ff+d_ff)+a") == ("d_model", "d_ff", "a")
    assert symbols("3×4") == ()


def test_numbers_take_the_place_of_symbols() -> None:
    assert in_numbers("3×(d_model×d_model+d_model)", VALUES) == "3×(32×32+32)"
    assert in_numbers("d_model×d_ff", {"d_model": 1, "d_ff": 2, "d": 9}) == "1×2"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([], "0"),
        (["0"], "0"),
        (["d"], "d"),
        (["d", "d"], "2×d"),
        (["a×b+b", "a×b+b", "a×b+b"], "3×(a×b+b)"),
        (["a×b", "0", "b"], "a×b+b"),
        (["a", "b", "a"], "2×a+b"),
    ],
)
def test_equal_terms_are_written_once(parts: list[str], expected: str) -> None:
    assert total(parts) == expected


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(terms, max_size=6))
def test_the_sum_of_formulas_is_the_formula_of_the_sum(parts: list[str]) -> None:
    assert evaluate_formula(total(parts), VALUES) == sum(evaluate_formula(part, VALUES) for part in parts)


@settings(deadline=None)
@given(terms)
def test_a_formula_in_numbers_is_worth_the_same(formula: str) -> None:
    assert evaluate_formula(in_numbers(formula, VALUES), {}) == evaluate_formula(formula, VALUES)
