"""A table of a configuration, [model] or [train]: frozen, keyword-only, each key checked by its type or by a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Self

from glassformer.config.options import Kinds, Schema, complete, known_key, option
from glassformer.config.values import Choice, ValueRule, choice, plain


def checked(default: Any, rule: ValueRule) -> Any:
    """A field whose type alone says too little: `dropout: float = checked(0.0, rate)`."""
    return field(default=default, metadata={"rule": rule})


@dataclass(frozen=True, kw_only=True)
class ConfigTable:
    """The base of all tables: checks its values when it is created, and converts from and to plain values."""

    def __post_init__(self) -> None:
        for name, each in self.schema().items():
            object.__setattr__(self, name, each.check(name, getattr(self, name)))

    @classmethod
    def schema(cls) -> Schema:
        """The keys, in their order."""
        return _schema(cls)  # type: ignore[arg-type]  # a class can be hashed, whatever mypy says of its instances

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Self:
        """Read plain values; an unknown key is refused with the nearest name."""
        return cls(**{known_key(name, cls.schema()): value for name, value in table.items()})

    @classmethod
    def from_choice(cls, name: str, chosen: Choice) -> Self:
        """Read the options of a choice: `task = { kind = "language_model", context = 64 }`."""
        return cls(**complete(name, chosen, cls.schema()))

    def to_dict(self) -> dict[str, Any]:
        """The values that differ from the defaults, as plain values."""
        table = {}
        for name, each in self.schema().items():
            value = getattr(self, name)
            if value != each.default:
                table[name] = plain(each.rule.shortened(value) if isinstance(each.rule, Kinds) else value)
        return table

    @classmethod
    def override(cls, table: Mapping[str, Any], name: str, value: object, typed: str = "") -> dict[str, Any]:
        """The plain table with one key set: `d_ff`, or inside a choice `position.base`.

        `typed`: the key as the user wrote it, if longer than `name`.
        """
        outer, dot, inner = name.partition(".")
        if not dot:
            return {**table, outer: value}
        schema = cls.schema()
        choices = [each for each in schema if isinstance(schema[each].default, Choice)]
        known_key(outer, choices, typed or name)
        chosen = table.get(outer, schema[outer].default)
        if not isinstance(chosen, Mapping):
            chosen = choice(outer, chosen)
            chosen = {"kind": chosen.kind, **chosen.options}
        return {**table, outer: {**chosen, inner: value}}


@cache
def _schema(table: type[ConfigTable]) -> Schema:
    return {each.name: option(str(each.type), each.default, each.metadata.get("rule")) for each in fields(table)}
