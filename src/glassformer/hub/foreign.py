"""A foreign config.json: every value is read by name and type, and what our boxes cannot do is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from glassformer.errors import FileError, shown

LARGEST_FILE = 2**25  # bytes; the index of the largest published models has 200 KB
MOST_LABELS = 1_000_000


@dataclass(frozen=True)
class Foreign:
    """The table of a config.json, and its path. `None` counts as not given, as in `transformers`."""

    table: Mapping[str, Any]
    path: Path

    def whole(self, key: str, default: int | None = None) -> int:
        value = self.table.get(key)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(key, value)
        return value

    def number(self, key: str, default: float | None = None) -> float:
        value = self.table.get(key)
        value = default if value is None else value
        if not _is_number(value):
            raise self._wrong(key, value)
        return float(value)

    def truth(self, key: str, default: bool) -> bool:
        value = self.table.get(key)
        value = default if value is None else value
        if not isinstance(value, bool):
            raise self._wrong(key, value)
        return value

    def word(self, key: str, default: str | None = None) -> str:
        value = self.table.get(key)
        value = default if value is None else value
        if not isinstance(value, str):
            raise self._wrong(key, value)
        return value

    def within(self, key: str) -> Foreign:
        """A table inside the table; empty if there is none."""
        value = self.table.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise self._wrong(key, value)
        return Foreign(value or {}, self.path)

    def one_of(self, key: str, known: Mapping[str, str], default: str | None = None) -> str:
        """Their word for something → our word for it."""
        value = self.word(key, default)
        if value not in known:
            raise FileError("hub_unsupported", path=self.path, key=key, value=value, known=", ".join(known))
        return known[value]

    def only(self, key: str, value: object) -> None:
        """An option for which our boxes support only one value: any other is refused, never ignored."""
        found = self.table.get(key)
        if found is not None and found != value:
            raise FileError("hub_unsupported", path=self.path, key=key, value=shown(found), known=shown(value))

    def words(self, key: str) -> list[str]:
        """A list of words; empty if there is none."""
        value = self.table.get(key) or []
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._wrong(key, value)
        return value

    def numbers(self, key: str) -> list[float]:
        """A list of numbers."""
        value = self.table.get(key)
        if not isinstance(value, list) or not all(map(_is_number, value)):
            raise self._wrong(key, value)
        return [float(each) for each in value]

    def labels(self) -> list[str]:
        """The names of the classes in order; if the file names none, two without names, as in `transformers`."""
        named = self.within("id2label").table
        if not named:
            count = self.whole("num_labels", 2)
            if not 0 < count <= MOST_LABELS:
                raise self._wrong("num_labels", count)
            return [f"LABEL_{i}" for i in range(count)]
        found = [named.get(str(i)) for i in range(len(named))]
        if not all(isinstance(name, str) for name in found):
            raise self._wrong("id2label", dict(named))
        return [str(name) for name in found]

    def _wrong(self, key: str, value: object) -> FileError:
        if value is None:
            return FileError("hub_key_missing", path=self.path, key=key)
        return FileError("hub_value", path=self.path, key=key, value=shown(value))


def _is_number(value: Any) -> TypeGuard[int | float]:
    """Whether it is a number that fits into a float: JSON allows integers of any length."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, float) or abs(value) <= sys.float_info.max


def read_foreign(path: Path) -> Foreign:
    """A JSON file that holds an object; anything else raises an error that names the file."""
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise FileError("file_too_large", path=path, size=size, limit=LARGEST_FILE)
        table = json.loads(path.read_bytes())
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:  # also: not UTF-8, a number of too many digits
        raise FileError("not_json", path=path) from error
    if not isinstance(table, dict):
        raise FileError("hub_value", path=path, key="{}", value=shown(table))
    return Foreign(table, path)


OUR_ACTIVATIONS = {  # theirs → ours
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
    "sigmoid": "sigmoid",
}
THEIR_ACTIVATIONS = {  # ours → theirs
    "relu": "relu",
    "gelu": "gelu",
    "gelu_tanh": "gelu_new",
    "silu": "silu",
    "sigmoid": "sigmoid",
}
