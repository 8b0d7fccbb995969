"""From a configuration to the parts of a model: one plan, built with numbers or in symbols."""

from __future__ import annotations

from typing import Any, NamedTuple

from glassformer.config.model import ModelConfig
from glassformer.config.options import parameters
from glassformer.config.values import Choice
from glassformer.layers.embedding import TokenEmbedding
from glassformer.layers.head import HEADS
from glassformer.layers.queries import LearnedQueries
from glassformer.models.block import BlockOptions
from glassformer.models.check import INPUTS, input_positions
from glassformer.models.decoder import Decoder, DecoderOnly
from glassformer.models.encoder import Encoder, EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.models.stack import Stack

MODELS: dict[str, Any] = {
    "encoder": EncoderOnly,
    "decoder": DecoderOnly,
    "encoder-decoder": EncoderDecoder,
}


class Box(NamedTuple):
    """A box and the keywords that make it: `make(**options)` is the module."""

    make: Any
    options: dict[str, Any]


def model_parts(config: ModelConfig) -> dict[str, Box]:
    """The parts of the model by name, in the order of the data."""
    parts = {"embedding": _input(config)}
    if config.encoder_layers:
        parts["encoder"] = Box(Encoder, _stack(config, config.encoder_layers))
    if config.family == "encoder-decoder" and config.tie_embeddings not in ("inputs", "all"):
        parts["target_embedding"] = _target_input(config)
    if config.decoder_layers:
        own = {"cross_attention": config.family == "encoder-decoder", "causal": config.causal}
        parts["decoder"] = Box(Decoder, {**_stack(config, config.decoder_layers), **own})
    parts["head"] = _head(config)
    return parts


def _stack(config: ModelConfig, n_layers: int) -> dict[str, Any]:
    """The keys that a stack or its blocks take under the same name, a choice by its kind; without `causal`."""
    names = {*parameters(Stack), *BlockOptions.__annotations__} - {"causal"}
    keys = {name: getattr(config, name) for name in config.schema() if name in names}
    kinds = {name: key.kind for name, key in keys.items() if isinstance(key, Choice)}
    return {"n_layers": n_layers, **keys, **kinds, "position_options": config.position.options}


def _input(config: ModelConfig) -> Box:
    options = {"d_model": config.d_model, **config.input.options}
    if config.input.kind == "tokens":
        options |= _tokens(config) | {"vocab_size": config.vocab_size, "segments": config.segments}
    return Box(INPUTS[config.input.kind], options)


def _target_input(config: ModelConfig) -> Box:
    """The decoder's side: learned queries, tokens where there is a vocabulary, vectors where there is neither."""
    if config.queries:
        return Box(LearnedQueries, {"d_model": config.d_model, "queries": config.queries})
    if config.output_vocab_size is None:
        return Box(INPUTS["vectors"], {"d_model": config.d_model})
    return Box(TokenEmbedding, {"d_model": config.d_model, "vocab_size": config.output_vocab_size} | _tokens(config))


def _tokens(config: ModelConfig) -> dict[str, Any]:
    return {"scale": config.embedding_scale, "special_tokens": config.special_tokens}


def _head(config: ModelConfig) -> Box:
    options = dict(config.head.options)
    if config.head.kind != "none":
        options["d_model"] = config.d_model
    if config.head.kind == "language_model":
        options |= {
            "vocab_size": config.output_vocab_size,
            "tied": config.tie_embeddings in ("output", "all"),
            "eps": config.eps,
        }
    if options.get("pool") == "flatten":
        options["positions"] = input_positions(config)
    return Box(HEADS[config.head.kind], options)
