"""What a model that writes may produce: no special tokens, and nothing that its tokenizer cannot spell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

from glassformer.config.values import one_of
from glassformer.errors import ConfigError, shown, warn
from glassformer.hub.generation import GenerationDefaults
from glassformer.text import Tokenizer
from glassformer.text.tokenizer import ROLES, Specials

T = TypeVar("T")


def forbidden_ids(
    specials: Specials, roles: Collection[str] | None = None, ends: Collection[int] | None = None
) -> list[int]:
    """The tokens of these roles, by default of all; what ends a text is always allowed, whatever else it is called."""
    ids = specials.ids()
    named = ROLES if roles is None else roles
    return sorted({ids[role] for role in named if role in ids} - {specials.eos, *(ends or ())})


def end_ids(options: Mapping[str, Any]) -> tuple[int, ...] | None:
    """`task.ends`, checked: the tokens that end a text, where there are several; None where eos alone does."""
    given = options.get("ends")
    if given is None:
        return None
    whole = isinstance(given, list | tuple) and all(isinstance(one, int) and not isinstance(one, bool) for one in given)
    if not whole or not given:
        raise ConfigError("end_ids", value=shown(given))
    return tuple(given)


def forbidden_roles(options: Mapping[str, Any]) -> tuple[str, ...] | None:
    """`task.forbidden`, checked; None where the task says nothing, so that every special token is forbidden."""
    given = options.get("forbidden")
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Collection):
        raise ConfigError("forbidden_roles", value=shown(given), known=", ".join(ROLES))
    return tuple(one_of("task.forbidden", role, ROLES) for role in given)


def first_said(*wishes: T | None) -> T:
    """The first that is not None: a person's, then the model's, then ours."""
    return next(wish for wish in wishes if wish is not None)


def say_unheeded(told: GenerationDefaults) -> None:
    """What the makers of a model want and our searches have not, in one line."""
    if told.unheeded:
        warn("generation_unheeded", wishes=", ".join(told.unheeded))


def spelled_ids(tokenizer: Tokenizer, ids: Iterable[int]) -> list[int]:
    """Those that the tokenizer can spell: many models have some rows more than there are pieces, to fill a block."""
    return [token for token in ids if token < tokenizer.vocab_size]
