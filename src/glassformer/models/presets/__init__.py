"""The named models, as published. A preset is a function; `--set key=value` changes any part of it."""

from __future__ import annotations

from collections.abc import Callable

from glassformer.config.model import ModelConfig
from glassformer.models.presets import decoders, encoder_decoders, encoders, small

PRESETS: dict[str, Callable[[], ModelConfig]] = {
    "paper-base": encoder_decoders.paper_base,
    "paper-big": encoder_decoders.paper_big,
    "t5-small": encoder_decoders.t5_small,
    "t5-base": encoder_decoders.t5_base,
    "bart-base": encoder_decoders.bart_base,
    "marian-base": encoder_decoders.marian_base,
    "mini-classifier": encoders.mini_classifier,
    "lesson-encoder": encoders.lesson_encoder,
    "bert-base": encoders.bert_base,
    "bert-large": encoders.bert_large,
    "vit-b16": encoders.vit_b16,
    "deit-tiny": encoders.deit_tiny,
    "stock-patches": encoders.stock_patches,
    "patchtst-etth1": encoders.patchtst_etth1,
    "gpt2": decoders.gpt2,
    "gpt2-medium": decoders.gpt2_medium,
    "gpt2-large": decoders.gpt2_large,
    "gpt2-xl": decoders.gpt2_xl,
    "gpt3-175b": decoders.gpt3_175b,
    "llama2-7b": decoders.llama2_7b,
    "llama3-8b": decoders.llama3_8b,
    "llama3-70b": decoders.llama3_70b,
    "llama3-405b": decoders.llama3_405b,
    "mistral-7b": decoders.mistral_7b,
    "qwen3-0.6b": decoders.qwen3_06b,
    "shakespeare-char": decoders.shakespeare_char,
    "small-encoder": small.small_encoder,
    "small-decoder": small.small_decoder,
    "small-translator": small.small_translator,
}
