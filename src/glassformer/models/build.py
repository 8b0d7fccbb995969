"""From a configuration to a model: one plan, read by the builder and by the ledger alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from glassformer.account import Row, within
from glassformer.config import ModelConfig
from glassformer.errors import ConfigError, choose
from glassformer.layers.attention import KERNELS
from glassformer.layers.embedding import TokenEmbedding
from glassformer.layers.head import HEADS
from glassformer.layers.norm import NORMS, Norm
from glassformer.layers.queries import LearnedQueries
from glassformer.models.check import INPUTS, check, input_positions
from glassformer.models.decoder import Decoder, DecoderOnly
from glassformer.models.encoder import Encoder, EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.models.initialize import initialize
from glassformer.tape import Shadow, Tape

MODELS: dict[str, Any] = {
    "encoder": EncoderOnly,
    "decoder": DecoderOnly,
    "encoder-decoder": EncoderDecoder,
}


class Box(NamedTuple):
    """A box and the keywords that make it: `make(**options)` is the module, `make.account(**options)` its account."""

    make: Any
    options: dict[str, Any]


def plan(config: ModelConfig) -> dict[str, Box]:
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


def build(
    config: ModelConfig,
    *,
    seed: int | None = None,
    device: str | torch.device | None = None,
    dtype: torch.dtype | None = None,
    kernel: str = "fused",
    norms: Mapping[str, Norm] = NORMS,
) -> nn.Module:
    """The model, initialised. `device="meta"` builds any size without memory; `norms` adds kinds of one's own."""
    check(config, norms=tuple(norms))
    choose("kernel", kernel, KERNELS)
    if config.norm.kind in NORMS:  # a norm of one's own has no account
        _refuse_too_large(config, device, dtype)
    parts = plan(config)
    for stack in (parts[side] for side in ("encoder", "decoder") if side in parts):
        stack.options.update(kernel=kernel, norm=norms[config.norm.kind])
    with torch.device(device or "cpu"), torch.random.fork_rng(devices=[], enabled=seed is not None):
        model: nn.Module = MODELS[config.family](**{name: box.make(**box.options) for name, box in parts.items()})
    generator = None
    if seed is not None and str(device) != "meta":
        if not 0 <= seed < 2**63:
            raise ConfigError("out_of_range", key="seed", value=seed, low=0, high=2**63 - 1)
        generator = torch.Generator(device or "cpu").manual_seed(seed)
    n_layers = max(config.encoder_layers, config.decoder_layers)
    initialize(model, config.init, d_model=config.d_model, n_layers=n_layers, generator=generator)
    return model if dtype is None else model.to(dtype)


def account(config: ModelConfig) -> tuple[Row, ...]:
    """Every row of the parameter ledger, from the same plan. No module is made."""
    check(config)
    parts = plan(config)
    rows = [row for name, box in parts.items() for row in within(name, box.make.account(**box.options))]
    shared = "target_embedding" if "target_embedding" in parts else "embedding"
    return tuple(replace(row, tied=shared) if row.tied else row for row in rows)


def shadow(config: ModelConfig, tape: Tape, *, batch: int, length: int, target_length: int | None = None) -> None:
    """One pass from inputs to outputs on a tape, from the same plan. Patches have a length of their own."""
    check(config)
    parts = plan(config)
    sizes = {
        "d_model": config.d_model,
        "d_ff": config.d_ff,
        "n_heads": config.n_heads,
        "n_kv_heads": config.n_kv_heads or config.n_heads,
        "d_k": config.head_size,
        "d_v": config.d_v or config.head_size,
        "vocab_size": config.output_vocab_size or 0,
    }
    source = input_positions(config) or length
    target = source if config.family == "decoder" else config.queries or target_length or length
    memory: Shadow | None = None
    with tape.at("", b=batch, **sizes):
        if tape.past and config.family == "encoder-decoder":  # the encoder has done its part
            x = memory = tape.given("b", "t", "d_model")
        else:
            with tape.at("embedding", t=source):
                x = parts["embedding"].make.shadow(tape, **parts["embedding"].options)
            if "encoder" in parts:
                with tape.at("encoder", t=source):
                    x = memory = Encoder.shadow(tape, x, **parts["encoder"].options)
        if config.family == "encoder-decoder":
            x = _shadow_target(tape, parts, target)
        if "decoder" in parts:
            with tape.at("decoder", t=target, s=source):
                seen = memory.view("b", "s", "d_model") if memory is not None else None
                x = Decoder.shadow(tape, x, seen, **parts["decoder"].options)
        with tape.at("head", t=source if config.family == "encoder" else target):
            parts["head"].make.shadow(tape, x, **parts["head"].options)


def _shadow_target(tape: Tape, parts: Mapping[str, Box], target: int) -> Shadow:
    name = "target_embedding" if "target_embedding" in parts else "embedding"
    with tape.at(name, t=target):
        return parts[name].make.shadow(tape, **parts[name].options)


def _refuse_too_large(config: ModelConfig, device: str | torch.device | None, dtype: torch.dtype | None) -> None:
    """A model that cannot fit is refused before the machine is brought to its knees."""
    if torch.device(device or "cpu").type != "cpu":
        return
    default = torch.get_default_dtype()  # modules are made in it and cast afterwards
    width = max(default.itemsize, (dtype or default).itemsize)
    needed = sum(row.parameters + row.buffers for row in account(config)) * width
    available = free_memory()
    if available is not None and needed > available:
        raise ConfigError("does_not_fit", needed=f"{needed / 2**30:,.1f}", available=f"{available / 2**30:,.1f}")


def free_memory() -> int | None:
    """Bytes that programs can still have; None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


def _stack(config: ModelConfig, n_layers: int) -> dict[str, Any]:
    return {
        "n_layers": n_layers,
        "max_len": config.max_len,
        "position": config.position.kind,
        "position_options": config.position.options,
        "embedding_norm": config.embedding_norm,
        "final_norm": config.final_norm,
        "window": config.window,
        "window_from": config.window_from,
        "d_model": config.d_model,
        "n_heads": config.n_heads,
        "d_ff": config.d_ff,
        "n_kv_heads": config.n_kv_heads,
        "d_k": config.d_k,
        "d_v": config.d_v,
        "norm": config.norm.kind,
        "norm_order": config.norm_order,
        "eps": config.eps,
        "feed_forward": config.feed_forward.kind,
        "activation": config.activation,
        "bias": config.bias,
        "qk_norm": config.qk_norm,
        "attention_scale": config.attention_scale,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "feed_forward_dropout": config.feed_forward_dropout,
        "stochastic_depth": config.stochastic_depth,
    }


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
