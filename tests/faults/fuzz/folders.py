"""Folders with something wrong in one file: our runs, foreign models, tokenizers."""

import json
import tomllib
from functools import partial
from pathlib import Path
from random import Random

import glassformer as gf
from faults.fuzz.files import damaged, toml
from faults.fuzz.values import changed, json_value, value
from faults.fuzz.world import EXPORTED, HERE, KINDS, TOKENIZER_KINDS, Case, file_names, use, world
from glassformer.text import open_tokenizer
from texts import CORPUS


def checkpoints(chance: Random) -> Case:
    kind = chance.choice(KINDS)
    name = chance.choice(file_names(kind))
    content = world().content(name)
    if name.endswith(".json") and chance.random() < 0.5:
        changed_file: bytes | None = json.dumps(changed(chance, json.loads(content), json_value)).encode()
    elif name.endswith(".toml") and chance.random() < 0.5:
        changed_file = toml(changed(chance, tomllib.loads(content.decode()), value))
    else:
        changed_file = None if chance.random() < 0.2 else damaged(chance, content)
    if chance.randint(0, 3):
        return Case({name: changed_file}, partial(gf.load, world().here / kind))
    return Case({name: changed_file}, use(kind))


def foreign(chance: Random) -> Case:
    """A folder as `transformers` leaves it, with something wrong in one of its files."""
    kind = chance.choice(list(EXPORTED))
    names = file_names(f"hf/{kind}")
    name = f"hf/{kind}/config.json" if chance.random() < 0.5 else chance.choice(names)
    content = world().content(name)
    if name.endswith(".json") and chance.random() < 0.8:
        given: bytes | None = json.dumps(changed(chance, json.loads(content), json_value)).encode()
    else:
        given = None if chance.random() < 0.2 else damaged(chance, content)
    folder = world().here / "hf" / kind
    match chance.randrange(8):
        case 0:
            verb, _, *rest = use(kind)
            return Case({name: given}, (verb, f"{HERE}/hf/{kind}", *rest))
        case 1:
            return Case({name: given}, ("count", f"{HERE}/hf/{kind}", "--json"))
        case 2 | 3:
            return Case({name: given}, partial(gf.load, folder))
    return Case({name: given}, partial(gf.check, folder))


def tokenizers(chance: Random) -> Case:
    as_command = chance.random() < 0.05
    kind = "classification" if as_command else chance.choice(TOKENIZER_KINDS)
    name = chance.choice(file_names("classification/tokenizer" if as_command else f"tokenizers/{kind}"))
    content = world().content(name)
    if name.endswith(".json") and chance.randint(0, 3):
        given = json.dumps(changed(chance, json.loads(content), json_value)).encode()
    else:
        given = damaged(chance, content)
    if as_command:
        return Case({name: given}, use(kind))
    return Case({name: given}, partial(_open_and_use, world().here / "tokenizers" / kind))


def _open_and_use(folder: Path) -> None:
    tokenizer = open_tokenizer(folder)
    ids = tokenizer.encode(CORPUS[0])
    tokenizer.decode(ids)
    tokenizer.pieces(CORPUS[-1])
