"""Models whose configuration has something wrong in it: checked, counted, planned."""

from dataclasses import fields
from functools import partial
from random import Random

import glassformer as gf
from faults.fuzz.files import damaged, toml
from faults.fuzz.values import python_value, value, value_of, word
from faults.fuzz.world import HERE, Case
from glassformer.config.model import ModelConfig
from tiny_tasks import TINY

KEYS = [key.name for key in fields(ModelConfig)]
SMALL = {
    "family": "encoder",
    "vocab_size": 50,
    "d_model": 8,
    "n_heads": 2,
    "d_ff": 8,
    "n_encoder_layers": 1,
    "max_len": 16,
}
BASES = [SMALL, {"preset": "mini-classifier"}, *({"vocab_size": 50} | table["model"] for table in TINY.values())]


def configs(chance: Random) -> Case:
    base = dict(chance.choice(BASES))
    how = chance.choice(["check", "check", "count", "file", "file", "damaged", "set", "plan"])
    values = python_value if how in ("check", "count") else value
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        key = chance.choice(KEYS) if chance.random() < 0.9 else word(chance)
        base[key] = value_of(chance, key, values)
    match how:
        case "check":
            return Case({}, partial(gf.check, base))
        case "count":
            return Case({}, partial(gf.count, base))
        case "file":
            files = {"given.toml": toml({"model": base})}
            return Case(files, ("count", f"{HERE}/given.toml", *chance.choice([(), ("--json",), ("--length", "4")])))
        case "damaged":
            return Case(
                {"given.toml": damaged(chance, (toml({"model": base})))}, ("count", f"{HERE}/given.toml", "--json")
            )
        case "set":
            key, given = chance.choice(KEYS), word(chance)
            return Case({}, ("count", "mini-classifier", "--json", "--set", f"{key}={given}".replace("\x00", "")))
    tokens, device = word(chance).replace("\x00", ""), chance.choice(["h200", "a100-40", "x", ""])
    files = {"given.toml": toml({"model": base})}
    return Case(files, ("plan", f"{HERE}/given.toml", f"--tokens={tokens or 1}", "--device", device, "--json"))
