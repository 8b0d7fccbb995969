"""JSON lines: one object per line, the two sides under keys of one's choice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unicodedata import normalize

from glassformer.data.lines import lines
from glassformer.data.pairs import Pairs, gather
from glassformer.errors import FileError, shown


def read_jsonl(path: str | Path, source: str = "source", target: str = "target") -> Pairs:
    """The pairs under two keys."""
    return gather(jsonl_rows(path, source, target), path)


def jsonl_rows(path: str | Path, source: str, target: str) -> Iterator[tuple[str, str]]:
    """The values of two keys of every line; an empty line is an empty row, which the reader leaves out and counts."""
    number = 0
    for number, line in enumerate(lines(path), 1):
        if not line.strip():
            yield "", ""
            continue
        row = _object(line, path, number)
        yield text_of(row, source, path, number), text_of(row, target, path, number)
    if not number:
        raise FileError("data_empty_file", path=path)


def jsonl_objects(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every object with the number of its line; empty lines are none."""
    for number, line in enumerate(lines(path), 1):
        if line.strip():
            yield number, _object(line, path, number)


def _object(line: str, path: str | Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # a number of too many digits is a ValueError too
        raise FileError("data_not_json", path=path, line=number, why=str(error)) from error
    if not isinstance(row, dict):
        raise FileError("data_no_object", path=path, line=number, value=shown(row))
    return row


def text_of(row: dict[str, Any], key: str, path: str | Path, number: int) -> str:
    """The text under a key, composed; anything else there is refused."""
    if key not in row:
        raise FileError("data_no_key", path=path, line=number, name=key, known=", ".join(row))
    value = row[key]
    if not isinstance(value, str):
        raise FileError("data_not_text", path=path, line=number, name=key, value=shown(value))
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:  # "\ud800" alone is legal JSON and no character
        raise FileError("data_not_text", path=path, line=number, name=key, value=shown(value)) from error
    return normalize("NFC", value)  # an escape such as \u1112 is not in NFC before it is read
