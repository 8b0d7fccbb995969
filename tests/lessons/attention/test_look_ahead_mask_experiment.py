from __future__ import annotations

from glassformer.lessons.attention.look_ahead_mask_experiment import configurations, probe
from glassformer.models.build import build
from glassformer.models.decoder import DecoderOnly
from glassformer.models.presets import PRESETS


def test_every_named_model_with_a_decoder_is_asked() -> None:
    found = configurations()
    assert {name for name, make in PRESETS.items() if make().decoder_layers} <= set(found)
    assert {config.position.kind for config in found.values()} == {
        "sinusoidal",
        "learned",
        "rotary",
        "alibi",
        "relative",
        "none",
    }
    assert {config.window for config in found.values()} == {None, 3}


def test_a_decoder_without_the_triangle_is_found_out() -> None:
    model = build(configurations()["gpt2"], seed=0).eval()
    assert isinstance(model, DecoderOnly)
    assert probe(model, 0)["before"] == 0.0 and probe(model, 0)["after"] > 0.0
    model.decoder.causal = False
    assert probe(model, 0)["before"] > 0.0
