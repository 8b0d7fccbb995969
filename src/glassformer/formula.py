"""Formulas as people write them, "3×(d_model×d_model+d_model)": evaluated exactly, shown in symbols or in numbers."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import add, floordiv, mul, sub

_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.FloorDiv: floordiv,
}
_SYMBOL = re.compile(r"[A-Za-z_]\w*")


@cache
def _parse(formula: str) -> ast.expr:
    return ast.parse(formula.replace("×", "*").replace("÷", "//"), mode="eval").body


def _value(node: ast.expr, values: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=symbol):
            return values[symbol]
        case ast.BinOp(left=left, op=operation, right=right):
            return _OPERATIONS[type(operation)](_value(left, values), _value(right, values))
    raise ValueError(f"not a formula: {ast.unparse(node)}")


def evaluate_formula(formula: str, values: Mapping[str, int]) -> int:
    """The number that the formula gives, in exact integers."""
    return _value(_parse(formula), values)


def symbols(formula: str) -> tuple[str, ...]:
    """The symbols of a formula, in order of appearance."""
    return tuple(dict.fromkeys(_SYMBOL.findall(formula)))


def in_numbers(formula: str, values: Mapping[str, int]) -> str:
    """The same formula with the numbers in place of the symbols: "3×(32×32+32)"."""
    return _SYMBOL.sub(lambda found: str(values[found.group()]), formula)


def total(terms: Iterable[str]) -> str:
    """Add formulas, writing equal ones once: d + d → "2×d", (a×b+b) + (a×b+b) → "2×(a×b+b)"."""
    return total_of(Counter(terms))


def total_of(counted: Mapping[str, int]) -> str:
    """The same for formulas that have been counted."""

    def repeated(term: str, times: int) -> str:
        if times == 1:
            return term
        return f"{times}×({term})" if "+" in term or "-" in term else f"{times}×{term}"

    return "+".join(repeated(term, times) for term, times in counted.items() if term != "0") or "0"
