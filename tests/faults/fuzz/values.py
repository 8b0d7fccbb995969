"""Values that are wrong somewhere: words, numbers, tables, and documents with one place changed.

hypothesis draws the seed of a case, `Random` the rest: to draw every letter through hypothesis takes ten times as long
as the case itself. A case has one to three faults: there is nothing to shrink.
"""

import math
import tomllib
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import TABLES
from glassformer.config.values import Choice
from glassformer.loading import recipes
from glassformer.models.presets import PRESETS
from tiny_tasks import TINY

# fmt: off
NASTY = (
    "", " ", "\x00", "\x1b[31m", "\n", "a\nb", "가", "힣ㅎㅏㄴ", "\u1112", "é", "\u0301", "\u202eabc", "😀", "\u200d",
    "a" * 3000, "..", "/", "~", "nan", "inf", "-1", "1e999", "{x}", "%s", "[MASK]", "___", "<s>", "[/red]", "\\", "'",
    '"', "\ufeffa", "𝟙", "١", "½", "\u2028", "\x85",
)
NUMBERS = (
    0, 1, 2, 3, 7, -1, 255, 2**31 - 1, 2**31, 2**63, -(2**63), 10**30, 10**400, 10**5000,
    0.0, -0.0, 0.5, 1.0, 1.5, -0.1, 1e-320, 1e308, math.nan, math.inf, -math.inf,
)
# fmt: on


def word(chance: Random) -> str:
    """What has broken some program, or letters of all the world."""
    return chance.choice(NASTY) if chance.random() < 0.6 else letters(chance, chance.randrange(12))


def letters(chance: Random, count: int) -> str:
    return "".join(chr(chance.randrange(*chance.choice(RANGES))) for _ in range(count))


RANGES = (
    (0, 0x80),
    (0x20, 0x7F),
    (0x80, 0x300),
    (0x300, 0x370),
    (0x590, 0x700),
    (0x1100, 0x1200),
    (0xAC00, 0xD7A4),
    (0x2000, 0x2100),
    (0xE000, 0x110000),
)


def scalar(chance: Random) -> Any:
    kind = chance.randrange(8)
    if kind < 3:
        return word(chance)
    if kind < 6:
        return chance.choice(NUMBERS)
    return chance.randrange(-100, 100) if kind == 6 else chance.random() < 0.5


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@cache
def known_words() -> list[str]:
    """What the package calls things, in places where they do not belong."""
    tables = [table for recipe in all_recipes() for table in recipe.values()]
    values = {value for table in tables for value in table.values() if isinstance(value, str)}
    choices = [name for name, each in ModelConfig.schema().items() if isinstance(each.default, Choice)]
    return sorted({*PRESETS, *TABLES, *choices, "kind", *values})


ODD = ([], {}, [[]], {"kind": {}}, {"kind": []}, {"": {}}, _deep(60))
NOT_TOML = (None, b"", b"\xff", (), set(), object, 1j, _deep(5000), {1: 2}, {None: None}, "\ud800", range(3))


def value(chance: Random) -> Any:
    """Any value that a file can hold."""
    match chance.randrange(8):
        case 0 | 1 | 2:
            return scalar(chance)
        case 3 | 4:
            return chance.choice(known_words())
        case 5:
            return [scalar(chance) for _ in range(chance.randrange(4))]
        case 6:
            keys = [chance.choice(["kind", "size", "base", "pool", word(chance)]) for _ in range(chance.randrange(4))]
            return {key: chance.choice([scalar(chance), chance.choice(known_words())]) for key in keys}
    return chance.choice(ODD)


@cache
def likely() -> dict[str, list[Any]]:
    """Values by key, as presets and recipes have them: what is right for one model is often wrong for another."""
    found: dict[str, list[Any]] = {}
    models = [PRESETS[name]().to_dict() for name in PRESETS]
    for table in [*models, *(table for recipe in [*all_recipes(), *TINY.values()] for table in recipe.values())]:
        for key, item in table.items():
            if item not in found.setdefault(key, []):
                found[key].append(item)
    return found


def value_of(chance: Random, key: str, values: Callable[[Random], Any]) -> Any:
    """One that another model or recipe has there, the same with something changed in it, or any."""
    known = likely().get(key)
    if not known or chance.random() < 0.5:
        return values(chance)
    found = chance.choice(known)
    return changed(chance, found, values) if isinstance(found, dict) and chance.random() < 0.5 else found


def small_value(chance: Random) -> Any:
    """For data that is really made or read: nothing large is asked for."""
    found = value(chance)
    return 3 if isinstance(found, int | float) and abs(found) > 50 else found


def json_value(chance: Random) -> Any:
    """Python writes no number of over 4,300 digits."""
    found = value(chance)
    return found if found != 10**5000 and 10**5000 not in items(found) else 10**400


def python_value(chance: Random) -> Any:
    """Any value that a call can hold."""
    return chance.choice(NOT_TOML) if chance.random() < 0.2 else value(chance)


def changed(chance: Random, table: Any, values: Callable[[Random], Any] = value) -> Any:
    """A document of dicts and lists with one place changed: gone, another value, under another name, or twice."""
    table = _copy(table)
    inside = table
    for _ in range(chance.randint(0, 3)):
        below = [value for value in items(inside) if isinstance(value, dict | list) and value]
        if not below:
            break
        inside = chance.choice(below)
    if isinstance(inside, list) and inside:
        at = chance.randint(0, len(inside) - 1)
        if chance.random() < 0.5:
            inside[at] = values(chance)
        else:
            inside[at : at + 1] = chance.choice([[], [inside[at]] * 2])
    elif isinstance(inside, dict) and inside:
        key = chance.choice(list(inside))
        match chance.choice(["gone", "other", "other", "other", "renamed", "new"]):
            case "gone":
                del inside[key]
            case "other" if values is not small_value:
                inside[key] = value_of(chance, key, values)
            case "other":
                inside[key] = values(chance)
            case "renamed":
                inside[word(chance)] = inside.pop(key)
            case "new":
                inside[word(chance)] = values(chance)
    return table


def items(value: Any) -> list[Any]:
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
    return []


def _copy(value: Any) -> Any:
    match value:
        case dict():
            return {key: _copy(item) for key, item in value.items()}
        case list():
            return [_copy(item) for item in value]
    return value


@cache
def all_recipes() -> list[dict[str, Any]]:
    return [tomllib.loads(path.read_text("utf-8")) for path in recipes().values()]
