"""The options of a data source, `source = { kind = "files", train = "a.tsv" }`: the keywords that its reader takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from glassformer.config.options import Schema, keywords
from glassformer.config.values import Rule, wrong_type


def source_options(
    readers: Mapping[str, Callable[..., Any]], rules: Mapping[str, Mapping[str, Rule]] = MappingProxyType({})
) -> dict[str, Schema]:
    """The options of every kind of source; `rules`, by kind, where a type alone says too little.

    `config`, which every reader is given, is none of them.
    """
    return {kind: keywords(make, rules.get(kind, {}), without=("config",)) for kind, make in readers.items()}


def two_columns(key: str, value: object) -> list[str | int]:
    """By name, or by number from 1."""
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(type(each) in (str, int) for each in value):
        raise wrong_type(key, value, "columns")
    return list(value)
