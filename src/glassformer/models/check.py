"""Is this configuration a model? Kinds and options are checked against the signatures of the boxes, sizes against
each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache, partial
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.options import REQUIRED, Schema, check_choice, keywords
from glassformer.config.values import Choice, ValueRule, one_of, rate, size, size_or_zero
from glassformer.errors import ConfigError
from glassformer.layers.attention.mask import check_window
from glassformer.layers.attention.multi_head import check_heads
from glassformer.layers.embedding import TokenEmbedding, Vectors
from glassformer.layers.feed_forward import ACTIVATIONS, FEED_FORWARDS
from glassformer.layers.head import HEADS
from glassformer.layers.norm import NORMS
from glassformer.layers.patch import ImagePatches, SeriesPatches, check_image, check_series
from glassformer.layers.position import POSITIONS, WITH_TABLE
from glassformer.layers.position.relative import check_buckets
from glassformer.layers.position.rotary import check_rotary
from glassformer.layers.position.sinusoidal import check_waves
from glassformer.layers.residual import NORM_ORDERS
from glassformer.models.initialize import INIT_RULES

INPUTS: dict[str, Any] = {
    "tokens": TokenEmbedding,
    "vectors": Vectors,
    "image": ImagePatches,
    "series": SeriesPatches,
}

# Keywords of boxes that are not options, because keys of the configuration give them.
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
OWN = {"head": {"scale", "activation"}}  # exceptions: options of this box
BOXES: dict[str, Mapping[str, Any]] = {"position": POSITIONS, "input": INPUTS, "head": HEADS}
BARE = ("norm", "feed_forward")  # these boxes have no options: all their keywords are keys of [model]
OPTION_RULES: dict[str, dict[str, ValueRule]] = {  # where the type in the signature says too little
    "position": {"offset": size_or_zero},
    "input": {"class_tokens": size_or_zero},
    "head": {"classes": size_or_zero, "dropout": rate, "activation": partial(one_of, known=ACTIVATIONS)},
}


def check(config: ModelConfig, norms: Collection[str] = tuple(NORMS)) -> None:
    """Raise a ConfigError that names the key, the value, the rule and the remedy; return if a model can be built."""
    _kinds(config, norms)
    for key, schema in box_options(config).items():
        check_choice(key, getattr(config, key), schema)
    check_heads(config.d_model, config.n_heads, config.n_kv_heads, config.d_k)
    check_window(config.window, config.window_from)
    _position(config)
    _layers(config)
    _input(config)
    _target(config)
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
        "init": (config.init, INIT_RULES),
    }
    for key, (kind, known) in kinds.items():
        one_of(key, kind, known)


def box_options(config: ModelConfig) -> dict[str, Schema]:
    """The options of the boxes that a model is made of: their keywords, read off `__init__`."""
    found: dict[str, Schema] = {key: _box_schema(key, getattr(config, key).kind) for key in BOXES}
    return found | {key: {} for key in BARE}


def _box_schema(key: str, kind: str) -> Schema:
    return _keywords(key, BOXES[key][kind])


@cache
def _keywords(key: str, box: Any) -> Schema:
    return keywords(box, OPTION_RULES[key], without=GIVEN - OWN.get(key, set()))


def all_options(key: str, choice: Choice) -> dict[str, Any]:
    """The options of a box that was chosen, completed by the defaults of the box."""
    schema = _box_schema(key, choice.kind)
    return {name: each.default for name, each in schema.items() if each.default is not REQUIRED} | dict(choice.options)


def _position(config: ModelConfig) -> None:
    options = all_options("position", config.position)
    match config.position.kind:
        case "sinusoidal":
            check_waves(options["base"], options["layout"])
        case "rotary":
            check_rotary(d_k=config.head_size, **options)
        case "relative":
            check_buckets(options["buckets"], options["max_distance"])


def _layers(config: ModelConfig) -> None:
    for side, said, layers in (
        ("encoder", config.n_encoder_layers, config.encoder_layers),
        ("decoder", config.n_decoder_layers, config.decoder_layers),
    ):
        key = f"n_{side}_layers"
        if side in config.family.split("-"):
            if layers < 1:
                raise ConfigError("no_layers", key=key, family=config.family)
        elif said:
            raise ConfigError("no_such_side", key=key, value=said, family=config.family)


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
    if kind == "image":
        check_image(options["size"], options["patch"], options.get("stride"))
    if kind == "series":
        check_series(options["context"], options["length"], options["stride"])
    count = input_positions(config)
    if count is not None and config.position.kind in WITH_TABLE and count > config.max_len:
        raise ConfigError("too_many_patches", count=count, max_len=config.max_len)


def _target(config: ModelConfig) -> None:
    """A decoder that starts from queries, or sees everything at once, cannot produce one word after another."""
    unordered = {"queries": config.queries} if config.queries else {} if config.causal else {"causal": "false"}
    for key, value in unordered.items():
        if config.family != "encoder-decoder":
            raise ConfigError("queries_family", key=key, value=value, family=config.family)
        if config.head.kind == "language_model":
            raise ConfigError("queries_head", key=key, value=value)
    if config.queries and (config.target_vocab_size is not None or config.tie_embeddings != "none"):
        raise ConfigError("queries_vocabulary", queries=config.queries)
    if config.position.kind in WITH_TABLE and config.queries > config.max_len:
        raise ConfigError("too_many_queries", queries=config.queries, max_len=config.max_len)


def input_positions(config: ModelConfig) -> int | None:
    """The number of positions that patches give; None where the input may have any length."""
    options = all_options("input", config.input)
    match config.input.kind:
        case "image":
            return ImagePatches.positions(
                size=options["size"],
                patch=options["patch"],
                stride=options["stride"],
                class_tokens=options["class_tokens"],
            )
        case "series":
            return SeriesPatches.positions(
                context=options["context"],
                length=options["length"],
                stride=options["stride"],
                pad_end=options["pad_end"],
            )
    return None


def _head(config: ModelConfig) -> None:
    kind, options = config.head.kind, config.head.options
    if kind == "language_model" and config.output_vocab_size is None:
        raise ConfigError("vocab_size_missing", input="language_model")
    if "pool" in options:
        one_of("head.pool", options["pool"], HEADS[kind].pools)
    if options.get("pool") == "flatten" and (
        kind != "regression" or config.family != "encoder" or input_positions(config) is None
    ):
        raise ConfigError("flatten_needs_patches", head=kind, family=config.family, input=config.input.kind)
    if kind == "classifier" and not options.get("classes") and not options.get("pooler"):
        raise ConfigError("classes_missing")
    if kind in ("distilled", "objects"):
        size("head.classes", options["classes"])
    if kind == "distilled":
        tokens = all_options("input", config.input).get("class_tokens", 0)
        if config.family != "encoder" or tokens < 2:
            raise ConfigError("distilled_tokens", family=config.family, input=config.input.kind, tokens=tokens)
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
