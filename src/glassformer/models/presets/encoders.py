"""Encoder-only models: classifiers, BERT, ViT, forecasters."""

from __future__ import annotations

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice


def mini_classifier() -> ModelConfig:
    """A classifier small enough to count by hand."""
    return ModelConfig(
        family="encoder",
        vocab_size=30522,
        max_len=400,
        d_model=32,
        n_heads=4,
        d_ff=32,
        n_encoder_layers=5,
        head=Choice("classifier", {"classes": 1, "pool": "cls"}),
    )


def lesson_encoder() -> ModelConfig:
    """A pre-norm GELU encoder on vectors."""
    return ModelConfig(
        family="encoder",
        input=Choice("vectors"),
        max_len=5000,
        d_model=256,
        n_heads=8,
        d_ff=1024,
        n_encoder_layers=6,
        norm_order="pre",
        activation="gelu",
        dropout=0.1,
    )


def _bert(d_model: int, n_heads: int, d_ff: int, n_layers: int) -> ModelConfig:
    """Devlin et al. 2019, uncased, with its pooler."""
    return ModelConfig(
        family="encoder",
        vocab_size=30522,
        max_len=512,
        d_model=d_model,
        n_heads=n_heads,
        d_ff=d_ff,
        n_encoder_layers=n_layers,
        position=Choice("learned"),
        embedding_norm=True,
        eps=1e-12,
        activation="gelu",
        dropout=0.1,
        feed_forward_dropout=0.0,
        embedding_scale=False,
        segments=2,
        init="normal",
        head=Choice("classifier", {"classes": 0, "pool": "cls", "pooler": True}),
    )


def bert_base() -> ModelConfig:
    return _bert(d_model=768, n_heads=12, d_ff=3072, n_layers=12)


def bert_large() -> ModelConfig:
    return _bert(d_model=1024, n_heads=16, d_ff=4096, n_layers=24)


def _vit(d_model: int, n_heads: int, d_ff: int, stochastic_depth: float = 0.0) -> ModelConfig:
    """Dosovitskiy et al. 2021: 224×224 pixels in 14×14 patches, one class token, 1,000 classes of ImageNet."""
    return ModelConfig(
        family="encoder",
        input=Choice("image", {"size": 224, "patch": 16, "channels": 3, "class_tokens": 1}),
        max_len=197,
        d_model=d_model,
        n_heads=n_heads,
        d_ff=d_ff,
        n_encoder_layers=12,
        position=Choice("learned"),
        norm_order="pre",
        eps=1e-6,
        activation="gelu",
        stochastic_depth=stochastic_depth,
        init="normal",
        head=Choice("classifier", {"classes": 1000, "pool": "cls"}),
    )


def vit_b16() -> ModelConfig:
    return _vit(d_model=768, n_heads=12, d_ff=3072)


def deit_tiny() -> ModelConfig:
    """Touvron et al. 2021, without the distillation token."""
    return _vit(d_model=192, n_heads=3, d_ff=768, stochastic_depth=0.1)


def stock_patches() -> ModelConfig:
    """30 days of a stock in 9 patches of 6 days; the next five days as output."""
    return ModelConfig(
        family="encoder",
        input=Choice("series", {"context": 30, "length": 6, "stride": 3}),
        max_len=9,
        d_model=64,
        n_heads=4,
        d_ff=256,
        n_encoder_layers=2,
        dropout=0.1,
        head=Choice("regression", {"outputs": 5, "pool": "flatten"}),
    )


def patchtst_etth1() -> ModelConfig:
    """Nie et al. 2023, PatchTST/42 on ETTh1, the next 96 hours as output.

    LayerNorm replaces its BatchNorm; its residual attention and reversible normalisation are left out.
    """
    return ModelConfig(
        family="encoder",
        input=Choice("series", {"context": 336, "length": 16, "stride": 8, "pad_end": True}),
        max_len=42,
        d_model=16,
        n_heads=4,
        d_ff=128,
        n_encoder_layers=3,
        position=Choice("learned"),
        activation="gelu",
        dropout=0.3,
        attention_dropout=0.0,
        head=Choice("regression", {"outputs": 96, "pool": "flatten"}),
    )
