"""Files whose rows are objects with keys: JSON lines, and Parquet, whose columns are keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from glassformer.data.lines import jsonl_objects, jsonl_rows, plain_name, text_of
from glassformer.data.parquet import parquet_objects


def is_keyed(path: str | Path) -> bool:
    return plain_name(path).endswith((".jsonl", ".parquet"))


def _is_parquet(path: str | Path) -> bool:
    return plain_name(path).endswith(".parquet")


def keyed_objects(path: str | Path, keys: Sequence[str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every object with the number of its line or row; empty lines are skipped. `keys`: all that is needed of them."""
    return parquet_objects(path, keys) if _is_parquet(path) else jsonl_objects(path)


def keyed_rows(path: str | Path, source: str, target: str) -> Iterator[tuple[str, str]]:
    """The texts under two keys of every object; an empty line, or a cell of Parquet without a value, is empty."""
    if not _is_parquet(path):
        yield from jsonl_rows(path, source, target)
        return
    for number, row in parquet_objects(path, dict.fromkeys((source, target))):
        filled = {key: "" if value is None else value for key, value in row.items()}
        yield text_of(filled, source, path, number), text_of(filled, target, path, number)
