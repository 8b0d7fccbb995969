"""What a request says, read field by field: a wrong value is an error that names the field, the value and the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from glassformer.config.values import LARGEST_SIZE, size, word, wrong_type
from glassformer.errors import InputError, shown

Fields = Mapping[str, Any]
LARGEST = 1e15  # of numbers


def table(key: str, value: object) -> Fields:
    """An object of JSON."""
    if not isinstance(value, Mapping):
        raise wrong_type(key, value, "table")
    return value


def text(fields: Fields, key: str) -> str:
    if key not in fields:
        raise InputError("explorer_missing", key=key)
    return word(key, fields[key])


def optional_text(fields: Fields, key: str) -> str | None:
    return None if fields.get(key) is None else word(key, fields[key])


def whole(fields: Fields, key: str, low: int = 0, high: int = LARGEST_SIZE) -> int | None:
    """A whole number, or None where there is none."""
    return None if fields.get(key) is None else size(key, fields[key], low, high)


def number(key: str, value: object) -> float:
    """A number whose squares float32 still holds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise wrong_type(key, value, "number")
    if not abs(value) <= LARGEST:
        raise InputError("explorer_number", key=key, largest=f"{LARGEST:.0e}".replace("e+", "e"))
    return float(value)


def wholes(fields: Fields, key: str, most: int = 100_000) -> list[int] | None:
    """Several whole numbers, or None where there are none."""
    given = fields.get(key)
    if given is None:
        return None
    return [size(key, each, 0) for each in _several(key, given, most)]


def numbers(key: str, value: object, most: int = 100_000) -> list[float]:
    return [number(key, each) for each in _several(key, value, most)]


def words(fields: Fields, key: str, most: int = 10_000) -> list[str] | None:
    given = fields.get(key)
    if given is None:
        return None
    return [word(key, each) for each in _several(key, given, most)]


def tables(fields: Fields, key: str, most: int = 1_000) -> list[Fields]:
    """Several objects; none if the field is missing."""
    given = fields.get(key)
    return [] if given is None else [table(key, each) for each in _several(key, given, most)]


def _several(key: str, value: object, most: int) -> Sequence[Any]:
    if not isinstance(value, list):
        raise wrong_type(key, value, "list")
    if len(value) > most:
        raise InputError("explorer_too_many", key=key, count=len(value), most=most)
    return value


def body(fields: Fields, known: Sequence[str]) -> Fields:
    """The fields of a request, none of them unknown, with the input where there must be one."""
    known_keys(fields, known)
    if "input" in known and fields.get("input") is None:
        raise InputError("explorer_missing", key="input")
    return fields


def known_keys(fields: Fields, known: Sequence[str]) -> None:
    """Raises for a field that nobody reads: most often it is misspelt."""
    for key in fields:
        if key not in known:
            raise InputError("explorer_unknown_key", key=shown(key), known=", ".join(known))
