"""GPT-2 (Radford et al. 2019): a decoder with learned positions and pre-norm; q, k, v in one matrix, all transposed."""

from __future__ import annotations

from functools import partial
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.hub.computed_buffers import causal_buffer
from glassformer.hub.family import (
    At,
    Family,
    Names,
    attention_dropout,
    biased,
    decoder_copies,
    decoder_head,
    decoder_head_names,
    layers,
)
from glassformer.hub.foreign import OUR_ACTIVATIONS, THEIR_ACTIVATIONS, Foreign

NORMS = biased({"self_attention_norm": "ln_1", "feed_forward_norm": "ln_2"})
MATRICES = {"self_attention.w_o": "attn.c_proj", "feed_forward.w_1": "mlp.c_fc", "feed_forward.w_2": "mlp.c_proj"}


def _configure(foreign: Foreign, task: str) -> ModelConfig:
    foreign.only("scale_attn_weights", True)
    foreign.only("scale_attn_by_inverse_layer_idx", False)
    foreign.only("add_cross_attention", False)
    d_model = foreign.whole("n_embd", 768)
    tied = task == "language_model" and foreign.truth("tie_word_embeddings", True)
    return ModelConfig(
        family="decoder",
        vocab_size=foreign.whole("vocab_size", 50257),
        max_len=foreign.whole("n_positions", 1024),
        d_model=d_model,
        n_heads=foreign.whole("n_head", 12),
        d_ff=foreign.whole("n_inner", 4 * d_model),
        n_decoder_layers=foreign.whole("n_layer", 12),
        position=Choice("learned"),
        norm_order="pre",
        eps=foreign.number("layer_norm_epsilon", 1e-5),
        activation=foreign.one_of("activation_function", OUR_ACTIVATIONS, "gelu_new"),
        dropout=foreign.number("resid_pdrop", 0.1),
        attention_dropout=foreign.number("attn_pdrop", 0.1),
        feed_forward_dropout=0.0,
        embedding_scale=False,
        tie_embeddings="all" if tied else "none",
        init="gpt2",
        head=decoder_head(foreign, task),
    )


def _describe(config: ModelConfig, task: str) -> dict[str, Any]:
    return {
        "model_type": "gpt2",
        "vocab_size": config.vocab_size,
        "n_positions": config.max_len,
        "n_embd": config.d_model,
        "n_head": config.n_heads,
        "n_inner": None if config.d_ff == 4 * config.d_model else config.d_ff,
        "n_layer": config.decoder_layers,
        "layer_norm_epsilon": config.eps,
        "activation_function": THEIR_ACTIVATIONS[config.activation],
        "resid_pdrop": config.dropout,
        "embd_pdrop": config.dropout,
        "attn_pdrop": attention_dropout(config),
        "tie_word_embeddings": config.tie_embeddings != "none" or task != "language_model",
        "num_labels": config.head.options.get("classes", 2),
    }


def _names(config: ModelConfig) -> Names:
    names = {
        "embedding.weight": At("transformer.wte.weight"),
        "decoder.positions.weight": At("transformer.wpe.weight"),
        "decoder.final_norm.weight": At("transformer.ln_f.weight"),
        "decoder.final_norm.bias": At("transformer.ln_f.bias"),
        **layers(NORMS, "decoder.blocks", "transformer.h", config.decoder_layers),
    }
    for i in range(config.decoder_layers):
        ours, theirs = f"decoder.blocks.{i}", f"transformer.h.{i}"
        for part, each in enumerate(("w_q", "w_k", "w_v")):
            joined = f"{theirs}.attn.c_attn"
            names[f"{ours}.self_attention.{each}.weight"] = At(f"{joined}.weight", True, part, 3)
            names[f"{ours}.self_attention.{each}.bias"] = At(f"{joined}.bias", False, part, 3)
        for mine, yours in MATRICES.items():
            names[f"{ours}.{mine}.weight"] = At(f"{theirs}.{yours}.weight", transposed=True)
            names[f"{ours}.{mine}.bias"] = At(f"{theirs}.{yours}.bias")
    return names | decoder_head_names(config)


GPT2 = Family(
    name="gpt2",
    model_types=("gpt2",),
    tasks={
        "GPT2LMHeadModel": "language_model",
        "GPT2ForSequenceClassification": "classification",
        "GPT2Model": "features",
    },
    configure=_configure,
    describe=_describe,
    names=_names,
    copies=partial(decoder_copies, embedding="transformer.wte.weight"),
    prefix="transformer.",
    aside=("lm_head.*", "score.*", "multiple_choice_head.*"),
    computed={"transformer.h.*.attn.bias": causal_buffer, "transformer.h.*.attn.masked_bias": None},
    taps={
        "embedding.output": "transformer.wte",
        "decoder.input": "transformer.drop",
        "decoder.blocks.{i}.self_attention.output": "transformer.h.{i}.attn.c_proj",
        "decoder.blocks.{i}.feed_forward.hidden": "transformer.h.{i}.mlp.act",
        "decoder.blocks.{i}.feed_forward.output": "transformer.h.{i}.mlp",
        "decoder.blocks.{i}.output": "transformer.h.{i}",
        "decoder.output": "transformer.ln_f",
        "head.logits": "lm_head",
    },
)
