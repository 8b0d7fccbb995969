"""Decoder-only models: GPT, LLaMA and relatives."""

from __future__ import annotations

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice

LANGUAGE_MODEL = Choice("language_model")


def _gpt(d_model: int, n_heads: int, n_layers: int, max_len: int = 1024) -> ModelConfig:
    """Radford et al. 2019; Brown et al. 2020 for GPT-3 (its sparse attention is dense here: no parameter differs)."""
    return ModelConfig(
        family="decoder",
        vocab_size=50257,
        max_len=max_len,
        d_model=d_model,
        n_heads=n_heads,
        d_ff=4 * d_model,
        n_decoder_layers=n_layers,
        position=Choice("learned"),
        norm_order="pre",
        activation="gelu_tanh",
        dropout=0.1,
        feed_forward_dropout=0.0,
        embedding_scale=False,
        tie_embeddings="all",
        init="gpt2",
        head=LANGUAGE_MODEL,
    )


def gpt2() -> ModelConfig:
    return _gpt(d_model=768, n_heads=12, n_layers=12)


def gpt2_medium() -> ModelConfig:
    return _gpt(d_model=1024, n_heads=16, n_layers=24)


def gpt2_large() -> ModelConfig:
    return _gpt(d_model=1280, n_heads=20, n_layers=36)


def gpt2_xl() -> ModelConfig:
    return _gpt(d_model=1600, n_heads=25, n_layers=48)


def gpt3_175b() -> ModelConfig:
    return _gpt(d_model=12288, n_heads=96, n_layers=96, max_len=2048)


def _llama(
    *,
    vocab_size: int,
    max_len: int,
    d_model: int,
    n_heads: int,
    n_kv_heads: int,
    d_ff: int,
    n_layers: int,
    position: Choice,
    d_k: int | None = None,
    eps: float = 1e-5,
    window: int | None = None,
    qk_norm: bool = False,
    tie_embeddings: str = "none",
) -> ModelConfig:
    """Touvron et al. 2023 and relatives: rotary positions, RMSNorm before each sub-layer, SwiGLU, no bias."""
    return ModelConfig(
        family="decoder",
        vocab_size=vocab_size,
        max_len=max_len,
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        d_k=d_k,
        d_ff=d_ff,
        n_decoder_layers=n_layers,
        position=position,
        norm=Choice("rms"),
        norm_order="pre",
        eps=eps,
        feed_forward=Choice("gated"),
        activation="silu",
        bias=(),
        qk_norm=qk_norm,
        window=window,
        embedding_scale=False,
        tie_embeddings=tie_embeddings,
        init="normal",
        head=LANGUAGE_MODEL,
    )


def llama2_7b() -> ModelConfig:
    return _llama(
        vocab_size=32000,
        max_len=4096,
        d_model=4096,
        n_heads=32,
        n_kv_heads=32,
        d_ff=11008,
        n_layers=32,
        position=Choice("rotary", {"base": 10000.0}),
    )


def _llama3(d_model: int, n_heads: int, d_ff: int, n_layers: int, max_len: int, position: Choice) -> ModelConfig:
    return _llama(
        vocab_size=128256,
        max_len=max_len,
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=8,
        d_ff=d_ff,
        n_layers=n_layers,
        position=position,
    )


def llama3_8b() -> ModelConfig:
    return _llama3(4096, 32, 14336, 32, 8192, Choice("rotary", {"base": 500000.0}))


def llama3_70b() -> ModelConfig:
    return _llama3(8192, 64, 28672, 80, 8192, Choice("rotary", {"base": 500000.0}))


def llama3_405b() -> ModelConfig:
    """Llama 3.1, whose rotary positions are scaled for 128 Ki tokens."""
    scaled = {"base": 500000.0, "scaling": "llama3", "factor": 8.0, "original_max_len": 8192}
    return _llama3(16384, 128, 53248, 126, 131072, Choice("rotary", scaled))


def mistral_7b() -> ModelConfig:
    return _llama(
        vocab_size=32000,
        max_len=32768,
        d_model=4096,
        n_heads=32,
        n_kv_heads=8,
        d_ff=14336,
        n_layers=32,
        position=Choice("rotary", {"base": 10000.0}),
        window=4096,
    )


def qwen3_06b() -> ModelConfig:
    return _llama(
        vocab_size=151936,
        max_len=40960,
        d_model=1024,
        n_heads=16,
        n_kv_heads=8,
        d_k=128,
        d_ff=3072,
        n_layers=28,
        position=Choice("rotary", {"base": 1000000.0}),
        eps=1e-6,
        qk_norm=True,
        tie_embeddings="all",
    )


def shakespeare_char() -> ModelConfig:
    """nanoGPT's character model: 65 characters, context 256."""
    return ModelConfig(
        family="decoder",
        vocab_size=65,
        max_len=256,
        d_model=384,
        n_heads=6,
        d_ff=1536,
        n_decoder_layers=6,
        position=Choice("learned"),
        norm_order="pre",
        activation="gelu",
        bias=(),
        dropout=0.2,
        feed_forward_dropout=0.0,
        embedding_scale=False,
        tie_embeddings="all",
        init="gpt2",
        head=LANGUAGE_MODEL,
    )
