"""What a single value must be, in a configuration as at a prompt: each check returns the value in its final form."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

from glassformer.errors import ConfigError, Phrase, shown

BIASES = ("q", "k", "v", "o", "feed_forward", "norm")
LARGEST_SIZE = 2**31 - 1


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


def _short(number: int) -> int | Phrase:
    """A hostile number may have thousands of digits."""
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
