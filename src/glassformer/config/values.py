"""Rules for single values, in a configuration or at a prompt: each returns the value in its final form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from glassformer.errors import ConfigError, Phrase, shown

ValueRule = Callable[[str, Any], Any]  # (key, value) → the value in its final form, or a ConfigError that names the key
BIASES = ("q", "k", "v", "o", "feed_forward", "norm")
LARGEST_SIZE = 2**31 - 1


@dataclass(frozen=True)
class Choice:
    """A variant and its options, frozen: `position = "rotary"`, or a table with `kind` and the rest."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.options, Mapping):  # otherwise the rule `choice` refuses it
            object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def __hash__(self) -> int:
        return hash((self.kind, frozenset(self.options)))  # only the names: a value may be a list

    def __reduce__(self) -> tuple[Any, ...]:
        """Needed because a mapping proxy can be neither pickled nor copied."""
        return Choice, (self.kind, dict(self.options))


def anything(key: str, value: object) -> Any:
    """Any value: it is checked later, where more is known."""
    return value


def wrong_type(key: str, value: object, expected: str) -> ConfigError:
    return ConfigError("wrong_type", key=key, value=shown(value), expected=Phrase(f"expected.{expected}"))


def path_of(key: str, value: object) -> Path:
    """A path, or a name that is one."""
    if not isinstance(value, str | Path) or not str(value):
        raise wrong_type(key, value, "path")
    return Path(value)


def size(key: str, value: object, low: int = 1, high: int = LARGEST_SIZE) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type(key, value, "whole_number")
    if not low <= value <= high:
        raise ConfigError("out_of_range", key=key, value=_short(value), low=low, high=high)
    return value


def size_or_zero(key: str, value: object) -> int:
    """A size that may be 0."""
    return size(key, value, low=0)


def _short(number: int) -> int | Phrase:
    """A number for a message; a hostile one may have thousands of digits."""
    return number if abs(number) < 10**15 else Phrase("expected.huge")


def rate(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(key, value, "rate")
    if not 0.0 <= value < 1.0:  # NaN fails this too
        raise ConfigError("rate", key=key, value=value)
    return float(value)


def positive(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(key, value, "number")
    if not 0 < value <= sys.float_info.max:  # NaN fails this too
        raise ConfigError("not_positive", key=key, value=value)
    return float(value)


def not_negative(key: str, value: object) -> float:
    return 0.0 if value == 0 and not isinstance(value, bool) else positive(key, value)


def truth(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong_type(key, value, "truth")
    return value


def word(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise wrong_type(key, value, "word")
    return value


def one_of(key: str, value: object, known: Collection[str]) -> str:
    if word(key, value) not in known:
        raise ConfigError("not_one_of", key=key, value=value, known=", ".join(known))
    return str(value)


def name_or_names(key: str, value: object) -> str | list[str]:
    """One name, or several."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not value or not all(isinstance(each, str) for each in value):
        raise wrong_type(key, value, "names")
    return list(value)


def choice(key: str, value: object) -> Choice:
    """A kind, or a table with `kind` and options; whether the kind exists is checked elsewhere."""
    if isinstance(value, Choice) and isinstance(value.options, Mapping):
        value = {"kind": value.kind, **value.options}
    if isinstance(value, str):
        return Choice(value)
    if not isinstance(value, Mapping):
        raise wrong_type(key, value, "choice")
    if "kind" not in value:
        raise ConfigError("kind_missing", key=key)
    return Choice(word(f"{key}.kind", value["kind"]), {word(key, k): v for k, v in value.items() if k != "kind"})


def biases(key: str, value: object) -> tuple[str, ...]:
    """What has a bias: everything, nothing, or the named ones, in the order of `BIASES`."""
    if isinstance(value, bool):
        return BIASES if value else ()
    if isinstance(value, str):  # --set bias=q,k,v
        value = value.split(",")
    if not isinstance(value, list | tuple | set | frozenset):
        raise wrong_type(key, value, "biases")
    chosen = {one_of(key, name, BIASES) for name in value}
    return tuple(name for name in BIASES if name in chosen)


def plain(value: Any) -> Any:
    """A value as it is written in TOML or JSON."""
    match value:
        case Choice():
            return {"kind": value.kind, **value.options} if value.options else value.kind
        case tuple():
            return list(value)
    return value
