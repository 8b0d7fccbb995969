"""Schemas: which keys and options there are, and what each must be. Unknown, missing and wrong ones are refused here.

A schema is read off the fields of a `ConfigTable`, or off the signature of the function that takes the options.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any, NamedTuple

from glassformer.config.values import Choice, ValueRule, choice, name_or_names, one_of, positive, size, truth, word
from glassformer.errors import ConfigError, suggest

REQUIRED = Parameter.empty  # instead of a default: the option must be given
RULES: dict[str, ValueRule] = {  # the rule of each type
    "int": size,
    "float": positive,
    "bool": truth,
    "str": word,
    "Sequence[str]": name_or_names,
    "str | Sequence[str]": name_or_names,
    "Choice": choice,
}


class Option(NamedTuple):
    """A key or an option: its default and its rule. `optional`: None is allowed."""

    default: Any
    rule: ValueRule
    optional: bool = False

    def check(self, key: str, value: object) -> Any:
        """The value in its final form, or an error that names the key."""
        return value if value is None and self.optional else self.rule(key, value)


Schema = Mapping[str, Option]


def option(annotation: str, default: Any, rule: ValueRule | None = None) -> Option:
    """The option for a declaration, `int | None = None`; `rule` replaces that of the type."""
    kind = annotation.removesuffix(" | None")
    return Option(default, rule or RULES[kind], optional=kind != annotation)


def keywords(
    function: Callable[..., Any], rules: Mapping[str, ValueRule] = MappingProxyType({}), without: Collection[str] = ()
) -> dict[str, Option]:
    """The parameters of a function as options; `without` names those that its caller supplies."""
    return {
        name: option(each.annotation, each.default, rules.get(name))
        for name, each in parameters(function).items()
        if name not in without
    }


@cache
def parameters(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """The signature of a function, read once."""
    return signature(function).parameters


def known_key(key: object, known: Collection[str], typed: str = "") -> str:
    """Return a known key; refuse any other and suggest the nearest. `typed`: as the user wrote it, `train.steps`."""
    name = word("key", key)
    if name not in known:
        raise ConfigError("unknown_key", key=typed or name, hint=suggest(name, known))
    return name


def check_choice(key: str, chosen: Choice, schema: Schema) -> dict[str, Any]:
    """Check the options that a choice sets. Unknown ones are refused with the nearest name, missing ones are named."""
    for name in chosen.options:
        if not schema:
            raise ConfigError("no_option", key=key, option=name, kind=chosen.kind)
        if name not in schema:
            hint = suggest(name, schema)
            raise ConfigError("unknown_option", key=key, option=name, kind=chosen.kind, hint=hint)
    for name, each in schema.items():
        if each.default is REQUIRED and name not in chosen.options:
            raise ConfigError("option_missing", key=key, kind=chosen.kind, option=name)
    return {name: schema[name].check(f"{key}.{name}", value) for name, value in chosen.options.items()}


def complete(key: str, chosen: Choice, schema: Schema) -> dict[str, Any]:
    """All options of a choice, in the order of the schema; those that it does not set have their defaults."""
    return {**defaults(schema), **check_choice(key, chosen, schema)}


def defaults(schema: Schema) -> dict[str, Any]:
    return {name: each.default for name, each in schema.items()}


class Kinds:
    """A rule: one of these kinds, with all of its options filled in, so that a stored recipe means the same in a later
    version with other defaults.
    """

    def __init__(self, known: Mapping[str, Schema]) -> None:
        self.known = known

    def __call__(self, key: str, value: object) -> Choice:
        chosen = choice(key, value)
        return Choice(chosen.kind, complete(key, chosen, self.known[one_of(key, chosen.kind, self.known)]))

    def shortened(self, chosen: Choice) -> Choice:
        """Without the options that have their defaults."""
        schema = self.known[chosen.kind]
        return Choice(chosen.kind, {k: v for k, v in chosen.options.items() if v != schema[k].default})
