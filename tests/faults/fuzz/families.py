"""The eight families of hostile inputs, and how a seed becomes a case of one of them."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from faults.fuzz.configs import configs
from faults.fuzz.folders import checkpoints, foreign, tokenizers
from faults.fuzz.images import images
from faults.fuzz.recipes import recipe_files
from faults.fuzz.tables import tables
from faults.fuzz.texts import texts
from faults.fuzz.world import Case


class Family(NamedTuple):
    """How a case is made, and its share of the cases and of the commands: the cheap ones have most."""

    make: Callable[[Random], Case]
    share: float
    commands: float


FAMILIES = {
    "configs": Family(configs, 0.35, 0.2),
    "recipes": Family(recipe_files, 0.17, 0.1),
    "texts": Family(texts, 0.16, 0.1),
    "tables": Family(tables, 0.18, 0.2),
    "images": Family(images, 0.05, 0.1),
    "tokenizers": Family(tokenizers, 0.04, 0.1),
    "checkpoints": Family(checkpoints, 0.02, 0.1),
    "foreign": Family(foreign, 0.03, 0.1),
}


def made(family: str, seed: bytes, *, as_command: bool = False) -> Case:
    """The case of a seed, or the first one after it that is a command."""
    chance = Random(seed)
    case = FAMILIES[family].make(chance)
    while as_command and not isinstance(case.ask, tuple):
        case = FAMILIES[family].make(chance)
    return case
