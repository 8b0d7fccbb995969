"""The paper's two models and their encoder-decoder descendants."""

from __future__ import annotations

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice

LANGUAGE_MODEL = Choice("language_model")


def paper_base() -> ModelConfig:
    """Table 3, base. Dropout after each sub-layer and on the embeddings, none inside (§5.4); three-way tying (§3.4)."""
    return ModelConfig(
        family="encoder-decoder",
        vocab_size=37000,
        d_model=512,
        n_heads=8,
        d_ff=2048,
        n_encoder_layers=6,
        n_decoder_layers=6,
        dropout=0.1,
        attention_dropout=0.0,
        feed_forward_dropout=0.0,
        tie_embeddings="all",
        init="paper",
        head=LANGUAGE_MODEL,
    )


def paper_big() -> ModelConfig:
    """Table 3, big."""
    return ModelConfig(
        family="encoder-decoder",
        vocab_size=37000,
        d_model=1024,
        n_heads=16,
        d_ff=4096,
        n_encoder_layers=6,
        n_decoder_layers=6,
        dropout=0.3,
        attention_dropout=0.0,
        feed_forward_dropout=0.0,
        tie_embeddings="all",
        init="paper",
        head=LANGUAGE_MODEL,
    )


def _t5(d_model: int, n_heads: int, d_ff: int, n_layers: int) -> ModelConfig:
    """Raffel et al. 2020: relative positions, RMSNorm, no bias, no 1/√d_k, output scaled by 1/√d_model."""
    return ModelConfig(
        family="encoder-decoder",
        vocab_size=32128,
        max_len=512,
        d_model=d_model,
        n_heads=n_heads,
        d_k=64,
        d_ff=d_ff,
        n_encoder_layers=n_layers,
        n_decoder_layers=n_layers,
        position=Choice("relative", {"buckets": 32, "max_distance": 128}),
        norm=Choice("rms"),
        norm_order="pre",
        eps=1e-6,
        bias=(),
        attention_scale=1.0,
        dropout=0.1,
        embedding_scale=False,
        tie_embeddings="all",
        init="t5",
        head=Choice("language_model", {"scale": True}),
    )


def t5_small() -> ModelConfig:
    return _t5(d_model=512, n_heads=8, d_ff=2048, n_layers=6)


def t5_base() -> ModelConfig:
    return _t5(d_model=768, n_heads=12, d_ff=3072, n_layers=12)


def bart_base() -> ModelConfig:
    """Lewis et al. 2020. Its table of positions keeps two rows that are never used."""
    return ModelConfig(
        family="encoder-decoder",
        vocab_size=50265,
        max_len=1024,
        d_model=768,
        n_heads=12,
        d_ff=3072,
        n_encoder_layers=6,
        n_decoder_layers=6,
        position=Choice("learned", {"offset": 2}),
        embedding_norm=True,
        activation="gelu",
        dropout=0.1,
        embedding_scale=False,
        tie_embeddings="all",
        init="normal",
        head=LANGUAGE_MODEL,
    )


def marian_base() -> ModelConfig:
    """Junczys-Dowmunt et al. 2018, at the sizes of OPUS-MT English-German."""
    return ModelConfig(
        family="encoder-decoder",
        vocab_size=58101,
        max_len=512,
        d_model=512,
        n_heads=8,
        d_ff=2048,
        n_encoder_layers=6,
        n_decoder_layers=6,
        position=Choice("sinusoidal", {"layout": "halves"}),
        activation="silu",
        dropout=0.1,
        attention_dropout=0.0,
        feed_forward_dropout=0.0,
        tie_embeddings="all",
        init="normal",
        head=LANGUAGE_MODEL,
    )
