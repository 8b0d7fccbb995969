"""A config.json of somebody else: every value is asked for by name and type, and what we cannot do is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import FileError, shown


@dataclass(frozen=True)
class Foreign:
    """The table of a config.json and where it stands. `None` counts as not given, as it does for `transformers`."""

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
        if isinstance(value, bool) or not isinstance(value, int | float):
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
        """A table inside the table; an empty one where there is none."""
        value = self.table.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise self._wrong(key, value)
        return Foreign(value or {}, self.path)

    def one_of(self, key: str, known: Mapping[str, str], default: str | None = None) -> str:
        """Their word for something → ours."""
        value = self.word(key, default)
        if value not in known:
            raise FileError("hub_unsupported", path=self.path, key=key, value=value, known=", ".join(known))
        return known[value]

    def only(self, key: str, value: object) -> None:
        """An option of theirs that our boxes have in one position alone: any other is refused, never ignored."""
        found = self.table.get(key)
        if found is not None and found != value:
            raise FileError("hub_unsupported", path=self.path, key=key, value=shown(found), known=shown(value))

    def _wrong(self, key: str, value: object) -> FileError:
        if value is None:
            return FileError("hub_key_missing", path=self.path, key=key)
        return FileError("hub_value", path=self.path, key=key, value=shown(value))


ACTIVATIONS = {  # theirs → ours
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}
