"""A pairwise grid over all options of a model: every two values that can stand together do, in at least one config.

`GRID` is deterministic. Combinations that no model can have are rejected by `check`, the same one that users meet.
"""

from __future__ import annotations

import pickle
import random
from itertools import combinations
from pathlib import Path
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.errors import ConfigError
from glassformer.models.check import check
from once import once

AT_LEAST = 220

OPTIONS: dict[str, list[Any]] = {
    "family": ["encoder", "decoder", "encoder-decoder"],
    "input": [
        "tokens",
        "vectors",
        {"kind": "image", "size": 6, "patch": 3},
        {"kind": "image", "size": 6, "patch": 2, "channels": 1, "class_tokens": 2, "bias": False},
        {"kind": "image", "size": 4, "patch": 2, "class_tokens": 0},
        {"kind": "image", "size": 4, "patch": 4, "stride": 2, "channels": 1},
        {"kind": "series", "context": 10, "length": 4, "stride": 2},
        {"kind": "series", "context": 11, "length": 3, "stride": 3, "channels": 2, "pad_end": True, "bias": False},
    ],
    "vocab_size": [None, 17],
    "target_vocab_size": [None, 13],
    "queries": [0, 3],
    "causal": [True, False],
    "max_len": [20, 50],
    "d_model": [12, 24],
    "n_heads": [2, 4, 6],
    "n_kv_heads": [None, 1, 2],
    "d_k": [None, 6, 5],
    "d_v": [None, 7],
    "d_ff": [12, 20],
    "n_encoder_layers": [None, 1, 2],
    "n_decoder_layers": [None, 1, 3],
    "position": [
        "sinusoidal",
        {"kind": "sinusoidal", "layout": "halves", "base": 500.0},
        "learned",
        {"kind": "learned", "offset": 2},
        "rotary",
        {"kind": "rotary", "layout": "interleaved", "scaling": "linear", "factor": 2.0},
        {"kind": "rotary", "scaling": "ntk", "factor": 4.0},
        {"kind": "rotary", "scaling": "llama3", "factor": 8.0, "original_max_len": 16},
        {"kind": "rotary", "scaling": "yarn", "factor": 4.0, "original_max_len": 8, "truncate": False},
        {"kind": "rotary", "scaling": "dynamic", "factor": 2.0, "original_max_len": 16},
        "alibi",
        "relative",
        {"kind": "relative", "buckets": 8, "max_distance": 20},
        "none",
    ],
    "norm": ["layer", "rms"],
    "norm_order": ["post", "pre", "parallel"],
    "final_norm": [None, True, False],
    "embedding_norm": [False, True],
    "eps": [1e-5, 1e-6],
    "feed_forward": ["mlp", "gated"],
    "activation": ["relu", "gelu", "gelu_tanh", "silu", "sigmoid"],
    "bias": [True, False, ["q", "k", "v"], ["o"], ["feed_forward"], ["norm"], ["q", "norm"], ["k", "v", "o"]],
    "qk_norm": [False, True],
    "attention_scale": [None, 1.0],
    "window": [None, 3],
    "window_from": [0, 1],
    "dropout": [0.0, 0.1],
    "attention_dropout": [None, 0.0, 0.2],
    "feed_forward_dropout": [None, 0.0, 0.2],
    "stochastic_depth": [0.0, 0.3],
    "embedding_scale": [True, False],
    "special_tokens": [0, 3],
    "segments": [0, 2],
    "tie_embeddings": ["none", "output", "inputs", "all"],
    "init": ["xavier", "he", "normal", "gpt2", "t5", "paper"],
    "head": [
        "none",
        "language_model",
        {"kind": "language_model", "bias": True},
        {"kind": "language_model", "transform": True, "bias": True},
        {"kind": "language_model", "scale": True},
        {"kind": "classifier", "classes": 3},
        {"kind": "classifier", "classes": 1, "pool": "sep", "bias": False},
        {"kind": "classifier", "classes": 2, "pool": "mean", "pooler": True},
        {"kind": "classifier", "classes": 0, "pooler": True},
        {"kind": "classifier", "classes": 4, "pool": "max"},
        {"kind": "regression", "outputs": 5},
        {"kind": "regression", "outputs": 2, "pool": "flatten", "bias": False},
        {"kind": "regression", "outputs": 1, "pool": "cls", "dropout": 0.1},
        {"kind": "language_model", "transform": True, "activation": "relu", "offset": True},
        {"kind": "classifier", "classes": 3, "pool": "each", "pooler": True},
        {"kind": "distilled", "classes": 3},
        {"kind": "distilled", "classes": 2, "bias": False},
        {"kind": "objects", "classes": 4},
    ],
}  # fmt: skip

Assignment = dict[str, int]  # option → which of its values
Pair = tuple[tuple[str, int], tuple[str, int]]


def table(chosen: Assignment) -> dict[str, Any]:
    """The [model] table of an assignment."""
    return {name: OPTIONS[name][i] for name, i in chosen.items() if OPTIONS[name][i] is not None}


def is_model(chosen: Assignment) -> bool:
    try:
        check(ModelConfig.from_dict(table(chosen)))
    except ConfigError:
        return False
    return True


def pairs(chosen: Assignment) -> set[Pair]:
    return set(combinations(sorted(chosen.items()), 2))


# The options that the others depend on, in every combination.
FRAMES: list[dict[str, Any]] = [
    {"family": family, "input": kind, "vocab_size": vocabulary, "head": head}
    for family in range(3)
    for kind in range(7)
    for vocabulary in range(2)
    for head in (0, 1, 5, 10, 11)
]


def complete(forced: Assignment, todo: set[Pair], luck: random.Random) -> Assignment | None:
    """A model that holds the forced values; each other option takes the value that covers most of what is to do."""
    for frame in luck.sample(FRAMES, len(FRAMES)):
        chosen = dict.fromkeys(OPTIONS, 0) | frame | forced
        if not is_model(chosen):
            continue
        fixed = set(frame) | set(forced)
        for name in luck.sample(sorted(set(OPTIONS) - fixed), len(OPTIONS) - len(fixed)):

            def gain(value: int, name: str = name) -> int:
                return sum(tuple(sorted([(name, value), (other, chosen[other])])) in todo for other in fixed)  # noqa: B023

            values = luck.sample(range(len(OPTIONS[name])), len(OPTIONS[name]))
            for value in sorted(values, key=gain, reverse=True):
                if is_model(chosen | {name: value}):
                    chosen[name] = value
                    break
            fixed.add(name)
        return chosen
    return None


def every_pair() -> set[Pair]:
    return {
        ((a, i), (b, j))
        for a, b in combinations(sorted(OPTIONS), 2)
        for i in range(len(OPTIONS[a]))
        for j in range(len(OPTIONS[b]))
    }


def generate() -> tuple[list[Assignment], set[Pair]]:
    """The assignments of the grid, and the pairs that no model can have."""
    luck = random.Random(2017)
    todo, impossible, chosen = every_pair(), set(), []
    for pair in sorted(todo):
        if pair not in todo:
            continue
        model = complete(dict(pair), todo, luck)
        if model is None:
            impossible.add(pair)
            todo.discard(pair)
            continue
        chosen.append(model)
        todo -= pairs(model)
    while len(chosen) < AT_LEAST:
        model = complete({}, todo, luck)
        assert model is not None
        chosen.append(model)
    return chosen, impossible


def _keep(path: Path) -> None:
    path.write_bytes(pickle.dumps(generate()))  # seconds of trying, the same for all workers of a session


ASSIGNMENTS, IMPOSSIBLE = pickle.loads(once("grid", _keep).read_bytes())
GRID = tuple(ModelConfig.from_dict(table(each)) for each in ASSIGNMENTS)
