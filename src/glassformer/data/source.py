"""The options of a data source, `source = { kind = "files", train = "a.tsv" }`, against what its reader takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from glassformer.config.model import Choice
from glassformer.config.values import size, wrong_type
from glassformer.errors import ConfigError, suggest

Check = Callable[[str, Any], Any]  # (key, value) → the value in its final form


def read_options(source: Choice, make: Callable[..., Any], checks: Mapping[str, Check]) -> dict[str, Any]:
    """The options of a source, each checked; an unknown or a missing one is named. `config` is no option."""
    known = {name: each for name, each in signature(make).parameters.items() if name != "config"}
    for option in source.options:
        if option not in known:
            hint = suggest(option, known)
            raise ConfigError("unknown_option", key="source", option=option, kind=source.kind, hint=hint)
    for name, each in known.items():
        if each.default is Parameter.empty and name not in source.options:
            raise ConfigError("option_missing", key="source", kind=source.kind, option=name)
    return {name: checks[name](f"source.{name}", value) for name, value in source.options.items()}


def source_options(readers: Mapping[str, Callable[..., Any]]) -> dict[str, dict[str, Any]]:
    """All options of every kind of source, with their defaults; None: there is none, or it must be given."""
    return {
        kind: {
            name: None if each.default is Parameter.empty else each.default
            for name, each in signature(make).parameters.items()
            if name != "config"
        }
        for kind, make in readers.items()
    }


def count(key: str, value: object) -> int:
    return size(key, value, low=0)


def names(key: str, value: object) -> str | list[str]:
    """One name, or several."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not value or not all(isinstance(each, str) for each in value):
        raise wrong_type(key, value, "names")
    return list(value)


def names_or_count(key: str, value: object) -> str | list[str] | int:
    return names(key, value) if isinstance(value, str | list | tuple) else count(key, value)


def two_columns(key: str, value: object) -> list[str | int]:
    """By name, or by number from 1."""
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(type(each) in (str, int) for each in value):
        raise wrong_type(key, value, "columns")
    return list(value)
