from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.attention.look_ahead_mask import configurations, probe, verdicts
from glassformer.models.build import build
from glassformer.models.decoder import DecoderOnly
from glassformer.models.presets import PRESETS
from lesson_models import tiny_result


def found(before: float, after: float) -> dict[str, Any]:
    return {"configurations": 1, "passes": 1, "before": before, "after": after, "unmasked": 1.0, "leaks": 0}


def test_the_rule() -> None:
    assert verdicts(found(0.0, 1.0))["causal"].verdict == "confirmed"
    assert verdicts(found(1e-30, 1.0))["causal"].verdict == "refuted"
    assert verdicts(found(0.0, 0.0))["causal"].verdict == "refuted"


@pytest.mark.slow
def test_the_picture_shows_two_triangles_and_another_model_gives_other_numbers() -> None:
    one, other = (tiny_result("look_ahead_mask", seed) for seed in (0, 1))
    size = len(one["tokens"])
    for i in range(size):
        assert all(one["weights"][i][j] == 0.0 for j in range(i + 1, size))
        assert all(one["moved"][i][j] == 0.0 for j in range(i))
        assert one["moved"][i][i] > 0.0
    assert one["moved_before"] == 0.0 and one["before"] == 0.0 and one["unmasked"] > 0.0
    assert one["weights"] != other["weights"]


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
