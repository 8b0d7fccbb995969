"""Is this configuration a model? Kinds and options against the boxes' own signatures, and sizes against each other."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Collection, Mapping
from typing import Any

from glassformer.config import Choice, ModelConfig
from glassformer.errors import ConfigError, Phrase, shown, suggest
from glassformer.layers.attention.multi_head import check_heads
from glassformer.layers.embedding import TokenEmbedding, Vectors
from glassformer.layers.feed_forward import ACTIVATIONS, FEED_FORWARDS
from glassformer.layers.head import HEADS, POOLS
from glassformer.layers.norm import NORMS
from glassformer.layers.patch import ImagePatches, SeriesPatches
from glassformer.layers.position import POSITIONS
from glassformer.layers.residual import NORM_ORDERS
from glassformer.models.initialize import RULES

INPUTS: dict[str, Any] = {
    "tokens": TokenEmbedding,
    "vectors": Vectors,
    "image": ImagePatches,
    "series": SeriesPatches,
}

# Options that a person does not set because the configuration's own keys give them.
GIVEN = {
    "d_model",
    "vocab_size",
    "max_len",
    "n_heads",
    "d_k",
    "bidirectional",
    "d_ff",
    "activation",
    "eps",
    "tied",
    "positions",
    "scale",
    "special_tokens",
    "segments",
}
WORDS = {
    "layout": ("interleaved", "halves"),
    "scaling": ("none", "linear", "ntk", "llama3"),
    "pool": POOLS,
}
MAY_BE_ZERO = {"classes", "class_tokens", "offset"}


def check(config: ModelConfig, norms: Collection[str] = tuple(NORMS)) -> None:
    """Raise a ConfigError that names the key, the value, the rule and the remedy; return if a model can be built."""
    _kinds(config, norms)
    _options("position", config.position, POSITIONS)
    _options("input", config.input, INPUTS)
    _options("head", config.head, HEADS, own={"scale"})
    for key in ("norm", "feed_forward"):
        choice: Choice = getattr(config, key)
        if choice.options:
            raise ConfigError("no_option", key=key, option=next(iter(choice.options)), kind=choice.kind)
    check_heads(config.d_model, config.n_heads, config.n_kv_heads, config.d_k)
    _position(config)
    _layers(config)
    _input(config)
    _head(config)


def _kinds(config: ModelConfig, norms: Collection[str]) -> None:
    kinds: dict[str, tuple[str, Collection[str]]] = {
        "position": (config.position.kind, POSITIONS),
        "norm": (config.norm.kind, norms),
        "norm_order": (config.norm_order, NORM_ORDERS),
        "feed_forward": (config.feed_forward.kind, FEED_FORWARDS),
        "activation": (config.activation, ACTIVATIONS),
        "input": (config.input.kind, INPUTS),
        "head": (config.head.kind, HEADS),
        "init": (config.init, RULES),
    }
    for key, (kind, known) in kinds.items():
        if kind not in known:
            raise ConfigError("not_one_of", key=key, value=kind, known=", ".join(known))


def _options(key: str, choice: Choice, boxes: Mapping[str, Any], own: Collection[str] = ()) -> None:
    """The options of a choice must be keywords of its box, of the type that the box declares."""
    parameters = inspect.signature(boxes[choice.kind].account).parameters
    open_options = {name: p for name, p in parameters.items() if name not in GIVEN or name in own}
    for option, value in choice.options.items():
        if option not in open_options:
            if not open_options:
                raise ConfigError("no_option", key=key, option=option, kind=choice.kind)
            hint = suggest(option, open_options)
            raise ConfigError("unknown_option", key=key, option=option, kind=choice.kind, hint=hint)
        _option_value(f"{key}.{option}", option, value, str(open_options[option].annotation))
    for name, parameter in open_options.items():
        if parameter.default is parameter.empty and name not in choice.options:
            raise ConfigError("option_missing", key=key, kind=choice.kind, option=name)


def _option_value(key: str, option: str, value: object, annotation: str) -> None:
    types: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}
    expected = types[annotation]
    if not isinstance(value, expected) or (isinstance(value, bool) and annotation != "bool"):
        raise ConfigError("wrong_type", key=key, value=shown(value), expected=Phrase(f"expected.{annotation}"))
    if option in WORDS and value not in WORDS[option]:
        raise ConfigError("not_one_of", key=key, value=value, known=", ".join(WORDS[option]))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if option == "dropout":
        if not 0.0 <= value < 1.0:
            raise ConfigError("rate", key=key, value=value)
    elif annotation == "int":
        low = 0 if option in MAY_BE_ZERO else 1
        if not low <= value <= 2**31 - 1:
            raise ConfigError("out_of_range", key=key, value=value, low=low, high=2**31 - 1)
    elif not 0 < value <= sys.float_info.max:  # NaN fails this too
        raise ConfigError("not_positive", key=key, value=value)


def _position(config: ModelConfig) -> None:
    options = config.position.options
    match config.position.kind:
        case "rotary":
            if config.head_size % 2:
                raise ConfigError("rotary_odd", d_k=config.head_size)
            low, high = options.get("low_frequency_factor", 1.0), options.get("high_frequency_factor", 4.0)
            if high <= low:
                raise ConfigError("rotary_factors", low=low, high=high)
        case "relative":
            buckets, distance = options.get("buckets", 32), options.get("max_distance", 128)
            if buckets % 4 or distance <= buckets // 2:
                raise ConfigError("relative_buckets", buckets=buckets, max_distance=distance)


def _layers(config: ModelConfig) -> None:
    for side, given, layers in (
        ("encoder", config.n_encoder_layers, config.encoder_layers),
        ("decoder", config.n_decoder_layers, config.decoder_layers),
    ):
        key = f"n_{side}_layers"
        if side in config.family.split("-"):
            if layers < 1:
                raise ConfigError("no_layers", key=key, family=config.family)
        elif given:
            raise ConfigError("no_such_side", key=key, value=given, family=config.family)


def _input(config: ModelConfig) -> None:
    kind, options = config.input.kind, config.input.options
    if kind == "tokens" and config.vocab_size is None:
        raise ConfigError("vocab_size_missing", input=kind)
    smallest = min((size for size in (config.vocab_size, config.target_vocab_size) if size is not None), default=0)
    if config.special_tokens > smallest:  # both sides have them
        raise ConfigError("special_tokens", special_tokens=config.special_tokens, vocab_size=smallest)
    if config.segments and not (kind == "tokens" and config.family == "encoder"):
        raise ConfigError("segments", segments=config.segments, family=config.family, input=kind)
    if kind in ("image", "series") and config.family == "decoder":
        raise ConfigError("decoder_input", input=kind)
    if kind == "image" and options["size"] % options["patch"]:
        raise ConfigError("image_patch", size=options["size"], patch=options["patch"])
    if kind == "series" and options["length"] > options["context"]:
        raise ConfigError("series_patch", length=options["length"], context=options["context"])
    count = input_positions(config)
    if count is not None and config.position.kind in ("sinusoidal", "learned") and count > config.max_len:
        raise ConfigError("too_many_patches", count=count, max_len=config.max_len)


def input_positions(config: ModelConfig) -> int | None:
    """How many positions patches give; None where the length of the input is free."""
    options = dict(config.input.options)
    match config.input.kind:
        case "image":
            return ImagePatches.positions(
                size=options["size"], patch=options["patch"], class_tokens=options.get("class_tokens", 1)
            )
        case "series":
            return SeriesPatches.positions(
                context=options["context"],
                length=options["length"],
                stride=options["stride"],
                pad_end=options.get("pad_end", False),
            )
    return None


def _head(config: ModelConfig) -> None:
    kind, options = config.head.kind, config.head.options
    if kind == "language_model" and config.output_vocab_size is None:
        raise ConfigError("vocab_size_missing", input="language_model")
    if options.get("pool") == "flatten" and (
        kind != "regression" or config.family != "encoder" or input_positions(config) is None
    ):
        raise ConfigError("flatten_needs_patches", head=kind, family=config.family, input=config.input.kind)
    if kind == "classifier" and not options.get("classes") and not options.get("pooler"):
        raise ConfigError("classes_missing")
    if config.target_vocab_size is not None and config.family != "encoder-decoder":
        raise ConfigError("target_vocab_size", value=config.target_vocab_size, family=config.family)
    _ties(config)


def _ties(config: ModelConfig) -> None:
    tie = config.tie_embeddings
    if tie == "none":
        return
    on_tokens = config.input.kind == "tokens"
    target_on_tokens = config.output_vocab_size is not None if config.family == "encoder-decoder" else on_tokens
    if not (target_on_tokens if tie == "output" else on_tokens):
        raise ConfigError("tie_needs_tokens", tie=tie, input=config.input.kind)
    if tie in ("output", "all") and config.head.kind != "language_model":
        raise ConfigError("tie_needs_language_model", tie=tie, head=config.head.kind)
    if tie == "inputs" and config.family != "encoder-decoder":
        raise ConfigError("tie_needs_two_sides", tie=tie, family=config.family)
    if tie in ("inputs", "all") and config.output_vocab_size != config.vocab_size:
        raise ConfigError("tie_vocabularies", vocab_size=config.vocab_size, target=config.target_vocab_size)
