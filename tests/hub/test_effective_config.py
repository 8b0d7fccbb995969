from __future__ import annotations

from dataclasses import replace

import pytest

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.hub.effective_config import differing_keys, effective_values

DECODER = {"family": "decoder", "vocab_size": 40, "d_model": 16, "n_heads": 2}


@pytest.mark.parametrize(
    "given",
    [
        {"n_kv_heads": 2},
        {"d_k": 8, "d_v": 8},
        {"n_decoder_layers": 6},
        {"final_norm": False},
        {"attention_scale": 8**-0.5},
        {"dropout": 0.3, "attention_dropout": 0.1, "init": "normal", "special_tokens": 3, "stochastic_depth": 0.1},
        {"position": Choice("sinusoidal", {"base": 10000.0})},
        {"head": Choice("none", {})},
    ],
)
def test_what_makes_no_difference(given: dict[str, object]) -> None:
    assert differing_keys(ModelConfig(**DECODER), ModelConfig(**DECODER, **given)) == {}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"eps": 1e-6}, "eps"),
        ({"n_kv_heads": 1}, "n_kv_heads"),
        ({"max_len": 7}, "max_len"),
        ({"position": Choice("sinusoidal", {"layout": "halves"})}, "position"),
        ({"window": 3}, "window"),
        ({"activation": "gelu"}, "activation"),
        ({"bias": ()}, "bias"),
    ],
)
def test_what_makes_a_difference(given: dict[str, object], key: str) -> None:
    assert list(differing_keys(ModelConfig(**DECODER), ModelConfig(**DECODER, **given))) == [key]  # type: ignore[arg-type]


def test_a_key_without_an_effect_is_left_out() -> None:
    rotary = ModelConfig(**DECODER, position=Choice("rotary"), norm=Choice("rms"))  # type: ignore[arg-type]
    other = ModelConfig(**DECODER, position=Choice("rotary"), norm=Choice("rms"), max_len=9)  # type: ignore[arg-type]
    assert differing_keys(rotary, other) == {}
    assert effective_values(rotary)["bias"] == ("q", "k", "v", "o", "feed_forward")
    tied = ModelConfig(**DECODER, head=Choice("language_model"), tie_embeddings="all")  # type: ignore[arg-type]
    assert differing_keys(tied, replace(tied, tie_embeddings="output")) == {}
