"""Which tokens a model may produce: no special tokens, and none without a piece in its tokenizer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

from glassformer.config.options import Option, Schema
from glassformer.config.values import one_of
from glassformer.errors import ConfigError, shown, warn
from glassformer.hub.generation import GenerationDefaults
from glassformer.text import Tokenizer
from glassformer.text.tokenizer import ROLES, Specials

T = TypeVar("T")


def forbidden_ids(
    specials: Specials, roles: Collection[str] | None = None, ends: Collection[int] | None = None
) -> list[int]:
    """The tokens of these roles, by default of all; tokens that end a text are allowed in any case."""
    ids = specials.ids()
    named = ROLES if roles is None else roles
    return sorted({ids[role] for role in named if role in ids} - {specials.eos, *(ends or ())})


def end_ids(key: str, value: object) -> tuple[int, ...]:
    """`task.ends`: the tokens that end a text, if there are several; by default only eos."""
    if not isinstance(value, list | tuple) or not value or not all(type(one) is int for one in value):
        raise ConfigError("end_ids", value=shown(value))
    return tuple(value)


def forbidden_roles(key: str, value: object) -> tuple[str, ...]:
    """`task.forbidden`: the roles of special tokens that are never produced; by default all."""
    if isinstance(value, str) or not isinstance(value, Collection):
        raise ConfigError("forbidden_roles", value=shown(value), known=", ".join(ROLES))
    return tuple(one_of(key, role, ROLES) for role in value)


FORBIDDEN_AND_ENDS: Schema = {
    "forbidden": Option(None, forbidden_roles, optional=True),
    "ends": Option(None, end_ids, optional=True),
}


def forbidden_and_ends(options: Mapping[str, Any]) -> tuple[tuple[str, ...] | None, tuple[int, ...] | None]:
    """Which special tokens are forbidden and which end a text, by the options of the task; None if not set."""
    forbidden, ends = (each.check(f"task.{name}", options.get(name)) for name, each in FORBIDDEN_AND_ENDS.items())
    return forbidden, ends


def first_said(*wishes: T | None) -> T:
    """The first that is not None: of the caller, then of the model, then our default."""
    return next(wish for wish in wishes if wish is not None)


def say_unheeded(defaults: GenerationDefaults) -> None:
    """Warn of the makers' settings that our searches do not have."""
    if defaults.unheeded:
        warn("generation_unheeded", wishes=", ".join(defaults.unheeded))


def spelled_ids(tokenizer: Tokenizer, ids: Iterable[int]) -> list[int]:
    """The ids that have a piece: many models have a few more rows than pieces, to round up the size."""
    return [token for token in ids if token < tokenizer.vocab_size]
