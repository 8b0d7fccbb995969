"""The configuration of a model: frozen, keyword-only, read from TOML, checked for names, types, sizes. No torch here.

The boxes know which kinds exist and which options they take: see `models/check.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from glassformer.config.table import ConfigTable, checked
from glassformer.config.values import BIASES, Choice, biases, one_of, rate, size, size_or_zero

FAMILIES = ("encoder", "decoder", "encoder-decoder")
TIES = ("none", "output", "inputs", "all")
MOST_LAYERS = 10_000


def _layers(key: str, value: object) -> int:
    return size(key, value, low=0, high=MOST_LAYERS)


def _tie(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "all" if value else "none"
    return one_of(key, value, TIES)


@dataclass(frozen=True, kw_only=True)
class ModelConfig(ConfigTable):
    """Everything that makes a model, with the paper's names; the defaults are the paper's base model."""

    family: str = checked("encoder-decoder", partial(one_of, known=FAMILIES))
    input: Choice = Choice("tokens")  # tokens, vectors, image, series
    vocab_size: int | None = None
    target_vocab_size: int | None = None  # default: vocab_size
    queries: int = checked(0, size_or_zero)  # learned vectors as input of the decoder, instead of a target
    causal: bool = True  # does the decoder see only the past?
    max_len: int = 5000  # the size of the table of positions, not the training length
    d_model: int = 512
    n_heads: int = 8
    n_kv_heads: int | None = None  # default: n_heads
    d_k: int | None = None  # default: d_model / n_heads
    d_v: int | None = None  # default: d_k
    d_ff: int = 2048
    n_encoder_layers: int | None = checked(None, _layers)  # default: 6 where the family has an encoder
    n_decoder_layers: int | None = checked(None, _layers)  # default: 6 where the family has a decoder
    position: Choice = Choice("sinusoidal")
    norm: Choice = Choice("layer")
    norm_order: str = "post"
    final_norm: bool | None = None  # default: pre and parallel yes, post no
    embedding_norm: bool = False
    eps: float = 1e-5
    feed_forward: Choice = Choice("mlp")
    activation: str = "relu"
    bias: tuple[str, ...] = checked(BIASES, biases)
    qk_norm: bool = False
    attention_scale: float | None = None  # default: 1/√d_k
    window: int | None = None
    window_from: int = checked(0, size_or_zero)  # the first layer that has the window
    dropout: float = checked(0.0, rate)
    attention_dropout: float | None = checked(None, rate)  # default: dropout
    feed_forward_dropout: float | None = checked(None, rate)  # default: dropout
    stochastic_depth: float = checked(0.0, rate)
    embedding_scale: bool = True
    special_tokens: int = checked(0, size_or_zero)
    segments: int = checked(0, size_or_zero)
    tie_embeddings: str = checked("none", _tie)
    init: str = "xavier"
    head: Choice = Choice("none")

    # --- sizes that follow from others ---

    @property
    def encoder_layers(self) -> int:
        if self.family == "decoder":
            return 0
        return 6 if self.n_encoder_layers is None else self.n_encoder_layers

    @property
    def decoder_layers(self) -> int:
        if self.family == "encoder":
            return 0
        return 6 if self.n_decoder_layers is None else self.n_decoder_layers

    @property
    def head_size(self) -> int:
        """The d_k in use: given, or d_model / n_heads."""
        return self.d_k or self.d_model // self.n_heads

    @property
    def output_vocab_size(self) -> int | None:
        return self.target_vocab_size or self.vocab_size
