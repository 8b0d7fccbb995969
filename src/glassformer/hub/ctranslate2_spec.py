"""A model of ours in the form of CTranslate2: its specification, filled tensor by tensor; or why it has none.

CTranslate2 computes the same equations under other names: q, k and v are one matrix, a table of positions is always
added, scores are scaled by a number that may be given. What it cannot compute is refused here, key by key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from glassformer.config.model import ModelConfig
from glassformer.errors import ConfigError
from glassformer.hub.effective_config import as_toml
from glassformer.layers.position import sinusoid
from glassformer.models.check import all_options

ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "gelu_tanh": "GELUTanh", "silu": "SWISH", "sigmoid": "Sigmoid"}
TRANSLATOR_POSITIONS = ("sinusoidal", "learned", "none")
WRITER_POSITIONS = (*TRANSLATOR_POSITIONS, "rotary")
ROTARY_SCALINGS = ("none", "linear")

Give = Callable[[str], Tensor]
Refusal = tuple[str, object, str]  # key, our value, what CTranslate2 can hold


def check_expressible(config: ModelConfig) -> None:
    """Raises if CTranslate2 cannot compute this model; the error names every key that stands in the way."""
    found = list(_refused(config))
    if found:
        named = ", ".join(f"{key}={as_toml(value)} ({known})" for key, value, known in found)
        raise ConfigError("ctranslate2_inexpressible", keys=named)


def _refused(config: ModelConfig) -> Iterator[Refusal]:
    translator = config.family == "encoder-decoder"
    if config.family == "encoder":
        yield "family", config.family, "encoder-decoder, decoder"
    if config.input.kind != "tokens" or config.queries:
        yield "input", config.input.kind, "tokens"
    if config.head.kind != "language_model":
        yield "head", config.head.kind, "language_model"
    elif config.head.options.get("transform"):
        yield "head.transform", True, "false"
    if not config.causal:
        yield "causal", False, "true"
    positions = TRANSLATOR_POSITIONS if translator else WRITER_POSITIONS
    if config.position.kind not in positions:
        yield "position", config.position.kind, ", ".join(positions)
    elif config.position.options.get("scaling", "none") not in ROTARY_SCALINGS:
        yield "position.scaling", config.position.options["scaling"], ", ".join(ROTARY_SCALINGS)
    yield from _refused_in_blocks(config, translator)


def _refused_in_blocks(config: ModelConfig, translator: bool) -> Iterator[Refusal]:
    """What a layer of CTranslate2 has no place for. Only its decoders alone share heads or look through a window."""
    if config.norm_order == "parallel":
        yield "norm_order", config.norm_order, "pre, post"
    if config.norm_order == "post" and config.final_norm:
        yield "final_norm", True, "false"
    if config.d_v is not None and config.d_v != config.head_size:
        yield "d_v", config.d_v, str(config.head_size)
    if config.qk_norm:
        yield "qk_norm", True, "false"
    if config.segments:
        yield "segments", config.segments, "0"
    if config.window is not None:
        yield "window", config.window, "–"
    if config.n_heads * config.head_size != config.d_model:
        yield "d_k", config.head_size, str(config.d_model // config.n_heads)
    if translator and config.n_kv_heads not in (None, config.n_heads):
        yield "n_kv_heads", config.n_kv_heads, str(config.n_heads)


def specify(config: ModelConfig, give: Give) -> Any:
    """The specification with all weights in float32; vocabularies are registered by the caller."""
    check_expressible(config)
    from ctranslate2 import specs

    filled = _Filling(config, give)
    if config.family == "decoder":
        spec = specs.TransformerDecoderModelSpec(filled.decoder(specs))
    else:
        spec = specs.TransformerSpec(filled.encoder(specs), filled.decoder(specs))
    spec.config.layer_norm_epsilon = config.eps
    return spec


class _Filling:
    """One model being written: our configuration, and our tensors by name."""

    def __init__(self, config: ModelConfig, give: Give) -> None:
        self.config, self.give = config, lambda name: give(name).detach().to("cpu", torch.float32)
        self.final_norm = config.norm_order != "post" if config.final_norm is None else config.final_norm

    def encoder(self, specs: Any) -> Any:
        spec = specs.TransformerEncoderSpec(self.config.encoder_layers, self.config.n_heads, **self.form(specs))
        spec.embeddings[0].weight = self.give("embedding.weight")
        self.stack(spec, "encoder")
        return spec

    def decoder(self, specs: Any) -> Any:
        config = self.config
        alone = config.family == "decoder"
        own = {"with_encoder_attention": not alone}
        if alone:
            own |= {"num_heads_kv": config.n_kv_heads or config.n_heads} | self.rotary(specs)
        spec = specs.TransformerDecoderSpec(config.decoder_layers, config.n_heads, **self.form(specs), **own)
        shared = alone or config.tie_embeddings in ("inputs", "all")
        embedding = self.give("embedding.weight" if shared else "target_embedding.weight")
        spec.embeddings.weight = embedding
        tied = config.tie_embeddings in ("output", "all")
        spec.projection.weight = embedding if tied else self.give("head.weight")
        self.head(spec)
        self.stack(spec, "decoder")
        return spec

    def form(self, specs: Any) -> dict[str, Any]:
        """What both stacks of a model share."""
        return {
            "pre_norm": self.config.norm_order == "pre",
            "no_final_norm": not self.final_norm,
            "activation": specs.Activation[ACTIVATIONS[self.config.activation]],
            "layernorm_embedding": self.config.embedding_norm,
            "ffn_glu": self.config.feed_forward.kind == "gated",
            "rms_norm": self.config.norm.kind == "rms",
        }

    def rotary(self, specs: Any) -> dict[str, Any]:
        if self.config.position.kind != "rotary":
            return {}
        options = all_options("position", self.config.position)
        scaled = {"rotary_scaling_type": specs.RotaryScalingType.Linear, "rotary_scaling_factor": options["factor"]}
        return {
            "rotary_dim": self.config.head_size,
            "rotary_interleave": options["layout"] == "interleaved",
            "rotary_base": options["base"],
            **(scaled if options["scaling"] == "linear" else {}),
        }

    def stack(self, spec: Any, name: str) -> None:
        spec.scale_embeddings = self.config.embedding_scale
        if self.config.position.kind != "rotary":
            spec.position_encodings.encodings = self.positions(name)
        if self.config.embedding_norm:
            self.norm(spec.layernorm_embedding, f"{name}.embedding_norm")
        if self.final_norm:
            self.norm(spec.layer_norm, f"{name}.final_norm")
        for layer, block in enumerate(spec.layer):
            ours = f"{name}.blocks.{layer}"
            self.self_attention(block.self_attention, f"{ours}.self_attention")
            if name == "decoder" and self.config.family == "encoder-decoder":
                self.cross_attention(block.attention, f"{ours}.cross_attention")
            self.feed_forward(block.ffn, f"{ours}.feed_forward")

    def positions(self, name: str) -> Tensor:
        """The rows that are added to the stream. It has no "none", so that is a table of zeros."""
        config = self.config
        if config.position.kind == "learned":
            return self.give(f"{name}.positions.weight")[int(config.position.options.get("offset", 0)) :]
        if config.position.kind == "none":
            return torch.zeros(config.max_len, config.d_model)
        options = all_options("position", config.position)
        at = torch.arange(config.max_len)
        return sinusoid(at, config.d_model, base=options["base"], layout=options["layout"], dtype=torch.float32)

    def self_attention(self, spec: Any, name: str) -> None:
        self.norm(spec.layer_norm, f"{name}_norm")
        self.linear(spec.linear[0], name, "w_q", "w_k", "w_v")
        self.linear(spec.linear[1], name, "w_o")
        self.scale(spec)

    def cross_attention(self, spec: Any, name: str) -> None:
        self.norm(spec.layer_norm, f"{name}_norm")
        self.linear(spec.linear[0], name, "w_q")
        self.linear(spec.linear[1], name, "w_k", "w_v")
        self.linear(spec.linear[2], name, "w_o")
        self.scale(spec)

    def scale(self, spec: Any) -> None:
        if self.config.attention_scale is not None:
            spec.queries_scale = float(self.config.attention_scale)

    def feed_forward(self, spec: Any, name: str) -> None:
        self.norm(spec.layer_norm, f"{name}_norm")
        if self.config.feed_forward.kind == "gated":
            self.linear(spec.linear_0, name, "w_gate")
            self.linear(spec.linear_0_noact, name, "w_1")
        else:
            self.linear(spec.linear_0, name, "w_1")
        self.linear(spec.linear_1, name, "w_2")

    def linear(self, spec: Any, name: str, *parts: str) -> None:
        """One matrix, or several as one. A part without a bias gets zeros if another has one."""
        weights = [self.give(f"{name}.{part}.weight") for part in parts]
        spec.weight = torch.cat(weights)
        biases = [self.bias(f"{name}.{part}", len(weight)) for part, weight in zip(parts, weights, strict=True)]
        if any(bias is not None for bias in biases):
            both = zip(biases, weights, strict=True)
            spec.bias = torch.cat([torch.zeros(len(weight)) if bias is None else bias for bias, weight in both])

    def bias(self, name: str, size: int) -> Tensor | None:
        letter = name.rpartition("w_")[2]
        key = letter if letter in ("q", "k", "v", "o") else "feed_forward"
        return self.give(f"{name}.bias") if key in self.config.bias else None

    def norm(self, spec: Any, name: str) -> None:
        spec.gamma = self.give(f"{name}.weight")
        if self.config.norm.kind == "layer":
            spec.beta = self.give(f"{name}.bias") if "norm" in self.config.bias else torch.zeros_like(spec.gamma)

    def head(self, spec: Any) -> None:
        """Bias and fixed offset are one vector there."""
        options = all_options("head", self.config.head)
        vectors = [self.give(f"head.{name}") for name in ("bias", "offset") if options[name]]
        if vectors:
            spec.projection.bias = torch.stack(vectors).sum(0)
        if options["scale"]:
            spec.scale_outputs = self.config.d_model**-0.5
