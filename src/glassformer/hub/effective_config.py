"""Which keys of two configurations differ in a way that affects an answer; if none, they are the same model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from glassformer.config.model import ModelConfig
from glassformer.config.toml import literal
from glassformer.config.values import Choice, plain
from glassformer.layers.position import WITH_TABLE
from glassformer.models.check import all_options

# Initialisation and training: an answer does not depend on them.
TRAINING = {"dropout", "attention_dropout", "feed_forward_dropout", "stochastic_depth", "init", "special_tokens"}


def differing_keys(one: ModelConfig, other: ModelConfig) -> dict[str, tuple[object, object]]:
    """Key → both values, for every key whose effect is not the same."""
    first, second = effective_values(one), effective_values(other)
    return {key: (first[key], second[key]) for key in first if first[key] != second[key]}


def one_by_one(found: Mapping[str, tuple[object, object]]) -> dict[str, tuple[object, object]]:
    """For a choice, only the options that differ, such as position.layout; if the kind differs, only the kind."""
    keys: dict[str, tuple[object, object]] = {}
    for key, (ours, theirs) in found.items():
        if not isinstance(ours, dict) or not isinstance(theirs, dict):
            keys[key] = ours, theirs
        elif ours["kind"] != theirs["kind"]:
            keys[key] = ours["kind"], theirs["kind"]
        else:
            both = {option: (ours.get(option), theirs.get(option)) for option in ours | theirs}
            keys |= {f"{key}.{option}": pair for option, pair in both.items() if pair[0] != pair[1]}
    return keys


def as_toml(value: object) -> str:
    """A value as written in a recipe; a choice without options as its kind."""
    if isinstance(value, Choice):
        return as_toml(plain(value))
    return "none" if value is None else value if isinstance(value, str) else literal(value)


def effective_values(config: ModelConfig) -> dict[str, object]:
    """Every key as it takes effect: defaults filled in, keys without an effect left out."""
    table: dict[str, object] = {key.name: getattr(config, key.name) for key in fields(config)}
    table = {key: value for key, value in table.items() if key not in TRAINING}
    two_sides = config.family == "encoder-decoder"
    tie = config.tie_embeddings
    return table | {
        "target_vocab_size": config.output_vocab_size if two_sides else None,
        "max_len": config.max_len if config.position.kind in WITH_TABLE else None,
        "n_kv_heads": config.n_kv_heads or config.n_heads,
        "d_k": config.head_size,
        "d_v": config.d_v or config.head_size,
        "n_encoder_layers": config.encoder_layers,
        "n_decoder_layers": config.decoder_layers,
        "final_norm": config.norm_order != "post" if config.final_norm is None else config.final_norm,
        "bias": tuple(name for name in config.bias if name != "norm" or config.norm.kind == "layer"),
        "attention_scale": config.attention_scale or config.head_size**-0.5,
        "window_from": config.window_from if config.window else 0,
        "tie_embeddings": tie if two_sides else tie != "none",
        "position": _complete("position", config.position),
        "input": _complete("input", config.input),
        "head": _complete("head", config.head),
    }


def _complete(key: str, choice: Choice) -> dict[str, object]:
    """The kind and all of its options, completed by the defaults of the box."""
    return {"kind": choice.kind, **all_options(key, choice)}
