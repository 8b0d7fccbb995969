"""T5 (Raffel et al. 2020), T5 v1.1 and Flan-T5, mT5: encoder-decoders with relative positions; T5's encoder alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.hub.family import At, Family, Names, layers
from glassformer.hub.foreign import Foreign

FEED_FORWARDS = {  # theirs → our box and its activation; their gated GELU is always the tanh approximation
    "relu": "mlp relu",
    "gelu": "mlp gelu",
    "gelu_new": "mlp gelu_tanh",
    "silu": "mlp silu",
    "gated-relu": "gated relu",
    "gated-gelu": "gated gelu_tanh",
    "gated-gelu_new": "gated gelu_tanh",
    "gated-silu": "gated silu",
}
WORDS = {ours: theirs for theirs, ours in reversed(FEED_FORWARDS.items())}
ENCODER_ALONE = ("T5EncoderModel", "MT5EncoderModel")


def configure(foreign: Foreign, task: str) -> ModelConfig:
    """Version 1.1 has `tie_word_embeddings = false`: its own output matrix, and no scaling.

    Files of `transformers` 5 have a separate key for the scaling; mT5 never scales.
    """
    alone = any(name in ENCODER_ALONE for name in foreign.words("architectures"))
    tied = foreign.truth("tie_word_embeddings", True)
    multilingual = foreign.table.get("model_type") == "mt5"
    scaled = foreign.truth("scale_decoder_outputs", tied and not multilingual)
    usual = "gated-gelu" if multilingual else "relu"
    feed_forward, activation = foreign.one_of("feed_forward_proj", FEED_FORWARDS, usual).split()
    n_layers = foreign.whole("num_layers")
    head = task == "translation"
    return ModelConfig(
        family="encoder" if alone else "encoder-decoder",
        vocab_size=foreign.whole("vocab_size"),
        max_len=foreign.whole("n_positions", 512),
        d_model=foreign.whole("d_model"),
        n_heads=foreign.whole("num_heads"),
        d_k=foreign.whole("d_kv"),
        d_ff=foreign.whole("d_ff"),
        n_encoder_layers=n_layers,
        n_decoder_layers=None if alone else foreign.whole("num_decoder_layers", n_layers),
        position=Choice(
            "relative",
            {
                "buckets": foreign.whole("relative_attention_num_buckets", 32),
                "max_distance": foreign.whole("relative_attention_max_distance", 128),
            },
        ),
        norm=Choice("rms"),
        norm_order="pre",
        eps=foreign.number("layer_norm_epsilon", 1e-6),
        feed_forward=Choice(feed_forward),
        activation=activation,
        bias=(),
        attention_scale=1.0,
        dropout=foreign.number("dropout_rate", 0.1),
        embedding_scale=False,
        tie_embeddings="none" if alone else "all" if head and tied else "inputs",
        init="t5",
        head=Choice("language_model", {"scale": True} if scaled else {}) if head else Choice("none"),
    )


def describe(config: ModelConfig, task: str) -> dict[str, Any]:
    alone = config.family == "encoder"
    name = "ForConditionalGeneration" if task == "translation" else "EncoderModel" if alone else "Model"
    tied = task != "translation" or config.tie_embeddings == "all"
    return {
        "model_type": "t5",
        "architectures": [f"T5{name}"],
        "is_encoder_decoder": not alone,
        "vocab_size": config.vocab_size,
        "n_positions": config.max_len,
        "d_model": config.d_model,
        "num_heads": config.n_heads,
        "d_kv": config.head_size,
        "d_ff": config.d_ff,
        "num_layers": config.encoder_layers,
        "num_decoder_layers": config.encoder_layers if alone else config.decoder_layers,
        "relative_attention_num_buckets": config.position.options.get("buckets", 32),
        "relative_attention_max_distance": config.position.options.get("max_distance", 128),
        "layer_norm_epsilon": config.eps,
        "feed_forward_proj": WORDS.get(f"{config.feed_forward.kind} {config.activation}", "relu"),
        "dropout_rate": config.dropout,
        "tie_word_embeddings": tied,
        "scale_decoder_outputs": bool(config.head.options.get("scale", False)),
    }


def tensor_names(config: ModelConfig) -> Names:
    gated = config.feed_forward.kind == "gated"
    inner = {"w_gate": "wi_0", "w_1": "wi_1", "w_2": "wo"} if gated else {"w_1": "wi", "w_2": "wo"}
    found = {"embedding.weight": At("shared.weight")}
    for side, count in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        if not count:
            continue
        attentions = {"self_attention": "SelfAttention", "cross_attention": "EncDecAttention"}
        sublayers = list(attentions.items())[: 2 if side == "decoder" else 1]
        block: dict[str, str] = {}
        for place, (mine, yours) in enumerate(sublayers):
            block |= {f"{mine}.w_{part}.weight": f"layer.{place}.{yours}.{part}.weight" for part in "qkvo"}
            block[f"{mine}_norm.weight"] = f"layer.{place}.layer_norm.weight"
        last = f"layer.{len(sublayers)}"
        block |= {f"feed_forward.{m}.weight": f"{last}.DenseReluDense.{y}.weight" for m, y in inner.items()}
        block["feed_forward_norm.weight"] = f"{last}.layer_norm.weight"
        table = "block.0.layer.0.SelfAttention.relative_attention_bias.weight"  # stored in the first layer, used by all
        found[f"{side}.positions.weight"] = At(f"{side}.{table}")
        found |= layers(block, f"{side}.blocks", f"{side}.block", count)
        found[f"{side}.final_norm.weight"] = At(f"{side}.final_layer_norm.weight")
    if config.head.kind == "language_model" and config.tie_embeddings != "all":
        found["head.weight"] = At("lm_head.weight")
    return found


def copies(config: ModelConfig) -> dict[str, str]:
    """Both sides share the input matrix; in version 1 the output does too."""
    found = {f"{side}.embed_tokens.weight": "shared.weight" for side in config.family.split("-")}
    return found | ({"lm_head.weight": "shared.weight"} if config.tie_embeddings == "all" else {})


def untied(config: ModelConfig) -> ModelConfig:
    """The untied model: `transformers` 5 writes "tied" for version 1.1 too, but reads two matrices if stored."""
    return replace(config, tie_embeddings="inputs") if config.head.kind == "language_model" else config


def _taps() -> dict[str, str]:
    found = {"embedding.output": "encoder.embed_tokens", "head.logits": "lm_head"}
    for side, sublayers in (("encoder", ("self",)), ("decoder", ("self", "cross"))):
        ours, theirs = f"{side}.blocks.{{i}}", f"{side}.block.{{i}}"
        for place, kind in enumerate(sublayers):
            attention = f"{theirs}.layer.{place}.{'SelfAttention' if kind == 'self' else 'EncDecAttention'}"
            found |= {f"{ours}.{kind}_attention.{part}": f"{attention}.{part}" for part in "qkv"}
            found[f"{ours}.{kind}_attention.output"] = f"{attention}.o"
            found[f"{ours}.after_{kind}_attention"] = f"{theirs}.layer.{place}"
        last = f"{theirs}.layer.{len(sublayers)}"
        found[f"{ours}.feed_forward.gate"] = f"{last}.DenseReluDense.act"
        found[f"{ours}.feed_forward.hidden"] = f"{last}.DenseReluDense.dropout"
        found[f"{ours}.feed_forward.output"] = f"{last}.DenseReluDense.wo"
        found[f"{ours}.output"] = last
        found |= {f"{side}.input": f"{side}.embed_tokens", f"{side}.output": f"{side}.final_layer_norm"}
    return found


T5 = Family(
    name="t5",
    model_types=("t5", "mt5"),
    tasks={
        "T5ForConditionalGeneration": "translation",
        "T5Model": "features",
        "T5EncoderModel": "features",
        "T5WithLMHeadModel": "translation",  # the older name
        "MT5ForConditionalGeneration": "translation",
        "MT5Model": "features",
        "MT5EncoderModel": "features",
    },
    configure=configure,
    describe=describe,
    names=tensor_names,
    copies=copies,
    apart=untied,
    prefix="",
    aside=("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",),  # in old files, unused
    taps=_taps(),
    end="eos",
)
