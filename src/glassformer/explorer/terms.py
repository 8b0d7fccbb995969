"""The terms of a number: what was added to make it, with the factors of each and where they come from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from glassformer.errors import InputError
from glassformer.explorer.passes import ShownPass

FILLED = 4  # terms that are written out in a formula


@dataclass(frozen=True)
class Term:
    """One operand: what it adds, the numbers that were multiplied for it, and where it comes from, if it was traced."""

    label: str
    value: float
    factors: tuple[float, ...] = ()
    name: str | None = None
    index: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"label": self.label, "value": self.value, "factors": [*self.factors], "name": self.name} | (
            {"index": [*self.index]} if self.name else {}
        )


@dataclass(frozen=True)
class Reason:
    """Terms, what they come to, and how that is written with numbers."""

    terms: list[Term]
    result: float
    filled: str


def number(one: ShownPass, name: str, index: Sequence[int]) -> float:
    """A number as the page has it; raises if there is none."""
    found = one.shown(name)
    if found is None:
        raise InputError("explorer_no_number", name=name, index=[*index], shape="–")
    if len(index) != found.dim() or any(at >= size for at, size in zip(index, found.shape, strict=True)):
        raise InputError("explorer_no_number", name=name, index=[*index], shape=[*found.shape])
    return float(found[tuple(index)])


def summed(terms: list[Term], before: str = "", after: str = "") -> Reason:
    """The sum of all terms, of which the largest are written out."""
    largest = sorted(terms, key=lambda term: -abs(term.value))[:FILLED]
    shown = "".join(signed(*(term.factors or (term.value,))) for term in largest)
    begun = shown.removeprefix(" + ") if not shown.startswith(" − ") else f"−{shown.removeprefix(' − ')}"
    more = " + …" if len(terms) > FILLED else ""
    return Reason(terms, math.fsum(term.value for term in terms), f"{before}{begun}{more}{after}")


def short(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def bracketed(value: float) -> str:
    """A number as one writes it behind a dot: 2 · (−3)."""
    return f"({short(value)})" if value < 0 else short(value)


def signed(value: float, *factors: float) -> str:
    """A product as one writes it inside a sum: no two signs meet."""
    return " · ".join([f" {'−' if value < 0 else '+'} {short(abs(value))}", *map(bracketed, factors)])
