"""Marian (Junczys-Dowmunt et al. 2018): the translators of OPUS-MT, the paper's model with one or two vocabularies."""

from __future__ import annotations

from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.hub.families.bart import (
    SINUSOID_BUFFERS,
    copies,
    describe_stacks,
    head,
    stacks,
    stored_positions,
    tensor_names,
    their_taps,
)
from glassformer.hub.family import Family
from glassformer.hub.foreign import Foreign


def configure(foreign: Foreign, task: str) -> ModelConfig:
    """`share_encoder_decoder_embeddings` ties the two inputs, `tie_word_embeddings` the output, both all three."""
    shared = foreign.truth("share_encoder_decoder_embeddings", True)
    tied = foreign.truth("tie_word_embeddings", True)
    keywords = stacks(foreign)
    vocab_size = keywords["vocab_size"]
    if shared:
        foreign.only("decoder_vocab_size", vocab_size)
    target = foreign.whole("decoder_vocab_size", vocab_size)
    tie = "none"
    if tied and (shared or task == "translation"):
        tie = ("all" if shared else "output") if task == "translation" else "inputs"
    return ModelConfig(
        **keywords,
        target_vocab_size=None if target == vocab_size else target,
        position=Choice("sinusoidal", {"layout": "halves"}),
        tie_embeddings=tie,
        head=head(foreign, task),
    )


def describe(config: ModelConfig, task: str) -> dict[str, Any]:
    translates = task == "translation"
    described = {
        "model_type": "marian",
        "architectures": ["MarianMTModel" if translates else "MarianModel"],
        "decoder_vocab_size": config.output_vocab_size,
        "share_encoder_decoder_embeddings": config.tie_embeddings in ("all", "inputs"),
        "tie_word_embeddings": not translates or config.tie_embeddings in ("all", "output"),
    }
    described |= describe_stacks(config, task)
    del described["decoder_start_token_id"]  # may not be null there
    return described


MARIAN = Family(
    name="marian",
    model_types=("marian",),
    tasks={"MarianMTModel": "translation", "MarianModel": "features"},
    configure=configure,
    describe=describe,
    names=tensor_names,
    copies=copies,
    prefix="model.",
    aside=("model.shared.weight",),  # unused if not tied
    computed=SINUSOID_BUFFERS,
    stored_positions=stored_positions,
    taps=their_taps(norm_order="post"),
    end="eos",
)
