"""LLaMA (Touvron et al. 2023) and its relatives Mistral, Qwen2 and Qwen3: rotary positions, RMSNorm, SwiGLU.

They differ in biases, in a norm on q and k, and in how far a token looks back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.errors import FileError, shown
from glassformer.hub.computed_buffers import frequencies
from glassformer.hub.family import (
    At,
    Family,
    Names,
    attention_dropout,
    decoder_copies,
    decoder_head,
    decoder_head_names,
    layers,
    linear,
)
from glassformer.hub.foreign import OUR_ACTIVATIONS, THEIR_ACTIVATIONS, Foreign
from glassformer.hub.rotary import read_rotary, write_rotary

PROJECTIONS = {
    "self_attention.w_q": "self_attn.q_proj",
    "self_attention.w_k": "self_attn.k_proj",
    "self_attention.w_v": "self_attn.v_proj",
    "self_attention.w_o": "self_attn.o_proj",
    "feed_forward.w_gate": "mlp.gate_proj",
    "feed_forward.w_1": "mlp.up_proj",
    "feed_forward.w_2": "mlp.down_proj",
}
NORMS = {"self_attention_norm": "input_layernorm", "feed_forward_norm": "post_attention_layernorm"}
QK_NORMS = {"self_attention.q_norm": "self_attn.q_norm", "self_attention.k_norm": "self_attn.k_norm"}
ALL = ("q", "k", "v", "o")


@dataclass(frozen=True, kw_only=True)
class Relative:
    """How one of them differs from the others; the sizes are its defaults for keys missing in config.json."""

    name: str
    stem: str  # of its class names: LlamaForCausalLM
    vocab_size: int
    d_ff: int
    n_kv_heads: int | None
    max_len: int
    bias: tuple[str, ...] | None = None  # of the projections; None: all or none, by `attention_bias`
    feed_forward_bias: bool = False  # whether `mlp_bias` is read
    qk_norm: bool = False
    window: str = "none"  # none; all: `sliding_window` in every layer; some: by `layer_types`


def _configure(foreign: Foreign, task: str, *, one: Relative) -> ModelConfig:
    max_len = foreign.whole("max_position_embeddings", one.max_len)
    d_model, n_heads = foreign.whole("hidden_size", 4096), foreign.whole("num_attention_heads", 32)
    d_k = foreign.whole("head_dim", 128 if one.qk_norm else d_model // max(n_heads, 1))
    n_layers = foreign.whole("num_hidden_layers", 32)
    given = "num_key_value_heads" in foreign.table  # null: one for each head; missing: the family's default
    bias = one.bias if one.bias is not None else ALL if foreign.truth("attention_bias", False) else ()
    if one.feed_forward_bias and foreign.truth("mlp_bias", False):
        bias = (*bias, "feed_forward")
    tied = task == "language_model" and foreign.truth("tie_word_embeddings", False)
    return ModelConfig(
        family="decoder",
        vocab_size=foreign.whole("vocab_size", one.vocab_size),
        max_len=max_len,
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=foreign.whole("num_key_value_heads", n_heads if given else one.n_kv_heads or n_heads),
        d_k=None if d_k * n_heads == d_model else d_k,
        d_ff=foreign.whole("intermediate_size", one.d_ff),
        n_decoder_layers=n_layers,
        position=read_rotary(foreign, base=10000.0, max_len=max_len),
        norm=Choice("rms"),
        norm_order="pre",
        eps=foreign.number("rms_norm_eps", 1e-6),
        feed_forward=Choice("gated"),
        activation=foreign.one_of("hidden_act", OUR_ACTIVATIONS, "silu"),
        bias=bias,
        qk_norm=one.qk_norm,
        attention_dropout=foreign.number("attention_dropout", 0.0),
        embedding_scale=False,
        tie_embeddings="all" if tied else "none",
        init="normal",
        head=decoder_head(foreign, task),
        **_window(foreign, one, n_layers),  # type: ignore[arg-type]
    )


def _window(foreign: Foreign, one: Relative, n_layers: int) -> dict[str, int]:
    """How far a token looks back, and from which layer on: the layers before it look at everything."""
    if one.window == "none":
        return {}
    if one.window == "all":
        off = "sliding_window" in foreign.table and foreign.table["sliding_window"] is None  # null means off here
        return {} if off else {"window": foreign.whole("sliding_window", 4096)}
    if not foreign.truth("use_sliding_window", False):
        return {}
    first = min(foreign.whole("max_window_layers", 28), n_layers)
    kinds = ["full_attention"] * first + ["sliding_attention"] * (n_layers - first)
    given = foreign.words("layer_types") or kinds
    first = given.count("full_attention")
    if given != ["full_attention"] * first + ["sliding_attention"] * (n_layers - first):
        known = "full_attention … sliding_attention …"
        raise FileError("hub_unsupported", path=foreign.path, key="layer_types", value=shown(given), known=known)
    if first == n_layers:
        return {}
    return {"window": foreign.whole("sliding_window", 4096)} | ({"window_from": first} if first else {})


def _describe(config: ModelConfig, task: str, *, one: Relative) -> dict[str, Any]:
    table: dict[str, Any] = {
        "model_type": one.name,
        "vocab_size": config.vocab_size,
        "max_position_embeddings": config.max_len,
        "hidden_size": config.d_model,
        "num_attention_heads": config.n_heads,
        "num_key_value_heads": config.n_kv_heads or config.n_heads,
        "head_dim": config.head_size,
        "intermediate_size": config.d_ff,
        "num_hidden_layers": config.decoder_layers,
        "rope_parameters": write_rotary(config.position),
        "rms_norm_eps": config.eps,
        "hidden_act": THEIR_ACTIVATIONS[config.activation],
        "attention_dropout": attention_dropout(config),
        "tie_word_embeddings": config.tie_embeddings != "none",
        "num_labels": config.head.options.get("classes", 2),
    }
    if one.bias is None:
        table["attention_bias"] = set(ALL) <= set(config.bias)
    if one.feed_forward_bias:
        table["mlp_bias"] = "feed_forward" in config.bias
    if one.window == "all":
        table["sliding_window"] = config.window
    if one.window == "some":
        first = config.window_from if config.window else config.decoder_layers
        kinds = ["full_attention"] * first + ["sliding_attention"] * (config.decoder_layers - first)
        table |= {"use_sliding_window": config.window is not None, "sliding_window": config.window}
        table |= {"max_window_layers": first, "layer_types": kinds}
    return table


def _names(config: ModelConfig) -> Names:
    biased = {
        ours: (ours[-1] if ours.startswith("self_attention") else "feed_forward") in config.bias for ours in PROJECTIONS
    }
    norms = NORMS | (QK_NORMS if config.qk_norm else {})
    block = linear(PROJECTIONS, biased) | linear(norms, dict.fromkeys(norms, False))
    return {
        "embedding.weight": At("model.embed_tokens.weight"),
        "decoder.final_norm.weight": At("model.norm.weight"),
        **layers(block, "decoder.blocks", "model.layers", config.decoder_layers),
        **decoder_head_names(config),
    }


def _family(one: Relative) -> Family:
    return Family(
        name=one.name,
        model_types=(one.name,),
        tasks={
            f"{one.stem}ForCausalLM": "language_model",
            f"{one.stem}ForSequenceClassification": "classification",
            f"{one.stem}Model": "features",
        },
        configure=partial(_configure, one=one),
        describe=partial(_describe, one=one),
        names=_names,
        copies=partial(decoder_copies, embedding="model.embed_tokens.weight"),
        prefix="model.",
        aside=("lm_head.*", "score.*"),
        computed={"model.layers.*.rotary_emb.inv_freq": frequencies, "model.rotary_emb.inv_freq": frequencies},
        taps={
            "embedding.output": "model.embed_tokens",
            "decoder.blocks.{i}.self_attention.v": "model.layers.{i}.self_attn.v_proj",
            "decoder.blocks.{i}.self_attention.output": "model.layers.{i}.self_attn.o_proj",
            "decoder.blocks.{i}.feed_forward.gate": "model.layers.{i}.mlp.act_fn",
            "decoder.blocks.{i}.feed_forward.output": "model.layers.{i}.mlp",
            "decoder.blocks.{i}.output": "model.layers.{i}",
            "decoder.output": "model.norm",
            "head.logits": "lm_head",
        },
    )


LLAMA, MISTRAL, QWEN2, QWEN3 = (
    _family(one)
    for one in (
        Relative(
            name="llama",
            stem="Llama",
            vocab_size=32000,
            d_ff=11008,
            n_kv_heads=None,
            max_len=2048,
            feed_forward_bias=True,
        ),
        Relative(
            name="mistral",
            stem="Mistral",
            vocab_size=32000,
            d_ff=14336,
            n_kv_heads=8,
            max_len=131072,
            bias=(),
            window="all",
        ),
        Relative(
            name="qwen2",
            stem="Qwen2",
            vocab_size=151936,
            d_ff=22016,
            n_kv_heads=32,
            max_len=32768,
            bias=("q", "k", "v"),
            window="some",
        ),
        Relative(
            name="qwen3",
            stem="Qwen3",
            vocab_size=151936,
            d_ff=22016,
            n_kv_heads=32,
            max_len=32768,
            qk_norm=True,
            window="some",
        ),
    )
)
