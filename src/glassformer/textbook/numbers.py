"""The numbers of a lesson as rows: where a value stands in its data, and what it is. Long lists are left to JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glassformer.show import minus

MOST = 60  # rows
INTERVAL = {"mean", "low", "high", "n"}


def rows(data: Any) -> list[tuple[str, str]]:
    """The first values of a tree of JSON, each under its path."""
    found = list(_walk("", data))
    return found[:MOST]


def _walk(path: str, value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case dict() if set(value) >= INTERVAL:
            yield path, interval(value)
        case dict():
            for key, inner in value.items():
                yield from _walk(f"{path}.{key}" if path else str(key), inner)
        case list() if all(not isinstance(item, dict | list) for item in value):
            if len(value) <= 12:
                yield path, ", ".join(map(plain, value))
        case list() if len(value) <= 12:
            for number, inner in enumerate(value):
                yield from _walk(f"{path}.{number}", inner)
        case list():
            return
        case _:
            yield path, plain(value)


def interval(value: dict[str, Any]) -> str:
    """mean [low, high], n seeds."""
    return f"{plain(value['mean'])} [{plain(value['low'])}, {plain(value['high'])}], n = {value['n']}"


def plain(value: Any) -> str:
    return "–" if value is None else minus(f"{value:.5g}") if isinstance(value, float) else str(value)
