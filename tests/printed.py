"""What a command prints, read back: its numbers with their units, its words; and the numbers that a document holds."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from glassformer.words import sentences

UNITS = {
    "%": 1e-2,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TFLOP/s": 1e12,
    "Gb/s": 1e9 / 8,
    "GB/s": 1e9,
    "GB": 1e9,
    "ms": 1e-3,
    "밀리초": 1e-3,
    "µs": 1e-6,
    "min": 60.0,
    "분": 60.0,
    "시간": 3600.0,
    "days": 86400.0,
    "일": 86400.0,
    "h": 3600.0,
    "s": 1.0,
    "초": 1.0,
    "K": 1e3,
    "k": 1e3,
    "M": 1e6,
    "B": 1e9,
    "G": 1e9,
    "T": 1e12,
}
_UNIT = "|".join(map(re.escape, UNITS))
_NUMBER = re.compile(
    r"(?P<about>≈ )?(?<![\w.,])(?P<said>[+−-]?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e[+-]?\d+)?)"
    rf"(?:\s?(?P<unit>{_UNIT})(?![A-Za-z/]))?"
)
_BORDERS = re.compile(r"[│┃┏┓┗┛┡┩└┘├┤┬┴┼╇┳━─╈╪╞╡╺╸]")
_ENDS = ",;:.()"
EXACT = 100  # below it a number without decimals is a count: never a rounded one


class Number(NamedTuple):
    """As it is written, the unit behind it, and whether it is marked as rounded."""

    said: str
    unit: str = ""
    rounded: bool = False

    @property
    def value(self) -> float:
        return float(self.said.replace(",", "").replace("−", "-"))

    @property
    def half(self) -> float:
        """Half of what one unit in the last digit is worth: what rounding may have changed."""
        digits, _, exponent = self.said.replace(",", "").partition("e")
        return 0.5000001 * float(10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])))

    @property
    def counts(self) -> bool:
        return self.said.lstrip("+−-").isdecimal() and abs(self.value) < EXACT

    def among(self, numbers: list[float], units: tuple[str, ...] = ()) -> bool:
        """Whether one of these, in order of size, is written like this: in its own unit or in one of a column's."""
        scales = {1.0, *(UNITS[unit] for unit in (*units, self.unit) if unit)}
        return any(self._is_among(numbers, scale) for scale in scales)

    def _is_among(self, numbers: list[float], scale: float) -> bool:
        half = 1e-9 if self.counts and scale == 1 else self.half
        first = bisect_left(numbers, (self.value - half) * scale)
        return first < len(numbers) and numbers[first] <= (self.value + half) * scale


def numbers(text: str) -> list[Number]:
    found = _NUMBER.finditer(plain(text))
    return [Number(each["said"], each["unit"] or "", bool(each["about"])) for each in found]


def plain(text: str) -> str:
    """Without the lines of a table."""
    return _BORDERS.sub(" ", text)


def words(text: str) -> set[str]:
    return {word.strip(_ENDS) for word in plain(text).split()} - {""}


def spoken(text: str, lang: str) -> set[str]:
    """The numbers that belong to the sentences of a text themselves ("20 tokens for each parameter")."""
    line = " ".join(plain(text).split())
    return {found.said for piece in _pieces(lang) if piece in line for found in numbers(piece)}


@cache
def _pieces(lang: str) -> frozenset[str]:
    """What stands between the places of values in all sentences, where it has words and a number."""
    pieces = (" ".join(piece.split()) for text in sentences(lang).values() for piece in re.split(r"{\w*}", text))
    return frozenset(piece for piece in pieces if re.search(r"[^\W\d_]", piece) and numbers(piece))


def held(document: Any) -> Iterator[float]:
    """Every number of a document: values, numbers inside of texts, and how long its lists are ("3 texts")."""
    match document:
        case bool() | None:
            pass
        case int() | float():
            yield float(document)
        case dict():
            for key, value in document.items():
                yield from held(str(key))
                yield from held(value)
        case list():
            yield float(len(document))
            for value in document:
                yield from held(value)
        case str():
            for found in numbers(document):
                yield from (found.value, found.value * UNITS.get(found.unit, 1.0))
