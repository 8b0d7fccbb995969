"""Texts that no model has been trained on."""

import unicodedata
from collections.abc import Callable
from functools import cache, partial
from random import Random
from typing import Any

import glassformer as gf
from faults.fuzz.values import NASTY, letters
from faults.fuzz.world import TOKENIZER_KINDS, Case, use, world
from glassformer.text import open_tokenizer

COMMON = (*NASTY, "나는", "학교에", "간다", " ", "the ", "___", "[MASK]")


def text(chance: Random) -> str:
    """Letters of all the world, words and signs in a row, a few letters thousands of times, what is not composed."""
    match chance.randrange(4):
        case 0:
            return letters(chance, chance.randrange(40))
        case 1:
            return "".join(chance.choice(COMMON) for _ in range(chance.randrange(8)))
        case 2:
            return letters(chance, chance.randint(1, 3)) * chance.choice([30, 300, 3000])
    return unicodedata.normalize("NFD", letters(chance, chance.randrange(20)))


TEXT_KINDS = (
    *("classification", "masked_language_model") * 12,
    "language_model",
    "translation",
    "tokenizer",
    "command",
)
VERBS: dict[str, Callable[..., object]] = {
    "classification": gf.classify,
    "masked_language_model": gf.fill,
    "language_model": partial(gf.generate, tokens=1),
    "translation": partial(gf.translate, beam=1),
}


def texts(chance: Random) -> Case:
    given = text(chance)
    kind = chance.choice(TEXT_KINDS)
    if kind == "tokenizer":
        return Case({}, partial(_round_trip, chance.choice(TOKENIZER_KINDS), given))
    if kind == "command":
        task = chance.choice(["classification", "masked_language_model"])
        verb, run, _ = use(task)
        return Case({}, (verb, run, "--", _argument(given)))
    if chance.randint(0, 15) == 0:
        given += "\ud800"  # what Python has for a byte that is no text
    return Case({}, partial(VERBS[kind], world().loaded(kind), given))


def _argument(text: str) -> str:
    """No process can be given a NUL."""
    return text.replace("\x00", "")[:2000] or "a"


@cache
def _tokenizer(kind: str) -> Any:
    return open_tokenizer(world().here / "tokenizers" / kind)


def _round_trip(kind: str, text: str) -> None:
    tokenizer = _tokenizer(kind)
    tokenizer.decode(tokenizer.encode(text))
    tokenizer.pieces(text)
