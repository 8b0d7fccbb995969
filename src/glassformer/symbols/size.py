"""A size that remembers how it is written: 512 under the name d_model, a product as n_heads×d_k.

A box takes integers, so it takes these without any change; its result can then be read in symbols.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any

Atom = tuple[str, int]  # a symbol and its value: t may be 7 in the encoder and 5 in the decoder
Powers = tuple[tuple[Atom, int], ...]  # n_heads¹ d_k¹, in the order in which they were written
Terms = dict[frozenset[tuple[Atom, int]], tuple[Any, Powers]]  # a sum: each product with its factor


class Dim(int):
    """An integer that is also a polynomial in its symbols.

    Sums, differences, products, powers and quotients keep the name and cancel: s − t + t is s, n_kv_heads × (n_heads ÷
    n_kv_heads) is n_heads. Everything else (comparison, √, float) is that of a plain integer.
    """

    terms: Terms

    def __new__(cls, name: str, value: int) -> Dim:
        powers: Powers = (((name, int(value)), 1),)
        return _dim(int(value), {frozenset(powers): (1, powers)})

    @cached_property
    def written(self) -> str:
        """As people write it: d_model, n_heads×d_k, max_len+offset, d_k÷2."""
        return "".join(_term(factor, powers, first=not i) for i, (factor, powers) in enumerate(self.terms.values()))

    @property
    def is_product(self) -> bool:
        """Can it be a factor of a product without brackets?"""
        if len(self.terms) > 1:
            return False
        ((factor, powers),) = self.terms.values()
        return factor == 1 and all(power > 0 for _, power in powers)

    def renamed(self, old: int, new: int) -> int:
        """`new` if this is exactly `old`, else itself."""
        return new if isinstance(old, Dim) and self.terms.keys() == old.terms.keys() else self

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        terms = dict(self.terms)
        for key, (factor, powers) in _terms(other).items():
            terms[key] = (terms[key][0] + factor, terms[key][1]) if key in terms else (factor, powers)
        return _dim(int(self) + int(other), terms)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        terms: Terms = {}
        for a, x in self.terms.values():
            for b, y in _terms(other).values():
                powers = _times(x, y)
                key = frozenset(powers)
                terms[key] = (a * b + (terms[key][0] if key in terms else 0), powers)
        return _dim(int(self) * int(other), terms)

    def __floordiv__(self, other: Any) -> Any:
        """Exact if it divides evenly; else the quotient becomes a symbol of its own."""
        if not isinstance(other, int):
            return NotImplemented
        if len(_terms(other)) == 1 and all(_value({k: each}) % int(other) == 0 for k, each in self.terms.items()):
            return _dim(int(self) // int(other), _divided(self.terms, other))
        whole = {k: each for k, each in self.terms.items() if _goes_into(other, each)} if int(other) else {}
        rest = self - _dim(_value(whole), whole) if whole else self
        name = f"({rest.written if isinstance(rest, Dim) else rest})÷{product_text([other])}"
        quotient = Dim(f"({name})", int(rest) // int(other))
        return quotient + _dim(_value(whole) // int(other), _divided(whole, other)) if whole else quotient

    def __pow__(self, other: Any, modulo: Any = None) -> Any:
        if type(other) is not int or other < 0 or modulo is not None:
            return int.__pow__(int(self), other, modulo)
        result: int = 1
        for _ in range(other):
            result = result * self
        return result

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + other * -1 if isinstance(other, int) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    __radd__, __rmul__ = __add__, __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return _dim, (int(self), self.terms)


def product_text(factors: Iterable[int]) -> str:
    """A product as text: factors of 1 are left out, a sum or a quotient is put in brackets."""
    texts = []
    for factor in factors:
        if isinstance(factor, Dim):
            texts.append(factor.written if factor.is_product else f"({factor.written})")
        elif factor != 1:
            texts.append(str(factor))
    return "×".join(texts) or "1"


def values(factors: Iterable[int]) -> dict[str, int]:
    """The values of the symbols in a product."""
    found: dict[str, int] = {}
    for factor in factors:
        if isinstance(factor, Dim):
            for _, powers in factor.terms.values():
                found.update(atom for atom, _ in powers)
    return found


def same(a: int, b: int) -> bool:
    """Equal as polynomials, not only as numbers."""
    return int(a) == int(b) and _polynomial(a) == _polynomial(b)


def _polynomial(x: int) -> dict[frozenset[tuple[Atom, int]], Any]:
    return {key: factor for key, (factor, _) in _terms(x).items()}


def _dim(value: int, terms: Terms) -> Any:
    """The sum as a Dim; a plain integer if no symbols are left."""
    terms = {key: each for key, each in terms.items() if each[0]}
    if not any(terms):
        return value
    self = int.__new__(Dim, value)
    self.terms = terms
    return self


def _terms(x: int) -> Terms:
    return x.terms if isinstance(x, Dim) else {frozenset(): (int(x), ())}


def _times(x: Powers, y: Powers, sign: int = 1) -> Powers:
    powers = dict(x)
    for atom, power in y:
        powers[atom] = powers.get(atom, 0) + sign * power
    return tuple((atom, power) for atom, power in powers.items() if power)


def _divided(terms: Terms, other: int) -> Terms:
    ((by, below),) = _terms(other).values()
    result: Terms = {}
    for factor, powers in terms.values():
        quotient = Fraction(factor) / by
        left = _times(powers, below, -1)
        result[frozenset(left)] = (int(quotient) if quotient.denominator == 1 else quotient, left)
    return result


def _goes_into(other: int, term: tuple[Any, Powers]) -> bool:
    """Is this term a whole multiple of the (single) term of `other`?"""
    if len(_terms(other)) != 1:
        return False
    ((by, below),) = _terms(other).values()
    factor, powers = term
    held = dict(powers)
    return bool(below) and all(held.get(atom, 0) >= power for atom, power in below) and factor % by == 0


def _value(terms: Terms) -> int:
    total = Fraction(0)
    for factor, powers in terms.values():
        product = Fraction(factor)
        for (_, number), power in powers:
            product *= Fraction(number) ** power
        total += product
    return int(total)


def _term(factor: Any, powers: Powers, *, first: bool) -> str:
    sign = "-" if factor < 0 else "" if first else "+"
    above, below = abs(factor).as_integer_ratio()
    names = [name for (name, _), power in powers for _ in range(power)]
    under = [name for (name, _), power in powers for _ in range(-power)] + ([str(below)] if below != 1 else [])
    over = ([str(above)] if above != 1 or not names else []) + names
    return sign + "×".join(over) + "".join(f"÷{name}" for name in under)
