"""Small models of each family, for two cores and for trying things out."""

from __future__ import annotations

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice

LANGUAGE_MODEL = Choice("language_model")


def _small(family: str, head: Choice, tie_embeddings: str) -> ModelConfig:
    return ModelConfig(
        family=family,
        vocab_size=8000,
        max_len=512,
        d_model=256,
        n_heads=4,
        d_ff=1024,
        n_encoder_layers=None if family == "decoder" else 3,
        n_decoder_layers=None if family == "encoder" else 3,
        norm_order="pre",
        activation="gelu",
        dropout=0.1,
        special_tokens=4,
        tie_embeddings=tie_embeddings,
        head=head,
    )


def small_encoder() -> ModelConfig:
    return _small("encoder", Choice("classifier", {"classes": 2, "pool": "cls"}), "none")


def small_decoder() -> ModelConfig:
    return _small("decoder", LANGUAGE_MODEL, "all")


def small_translator() -> ModelConfig:
    return _small("encoder-decoder", LANGUAGE_MODEL, "all")
