from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from glassformer.ledger.parameters import count
from glassformer.lessons.families import parameters
from glassformer.lessons.families.parameters import CLASSIFIER, LESSON_ENCODER, built, run, shares, verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.models.presets import PRESETS


def hand_made() -> dict[str, Any]:
    most, least = {"attention": 0.6, "feed_forward": 0.4}, {"attention": 0.4, "feed_forward": 0.6}
    row = {"name": "a", "of_model": most, "of_layers": least}
    return {
        "models": [row],
        "by_name": {"a": row},
        "classifier": {
            "claimed": CLASSIFIER,
            "counted": dict(CLASSIFIER),
            "built_one": CLASSIFIER["one_layer"],
            "built_five": CLASSIFIER["five_layers"],
        },
        "lesson": {
            "claimed": LESSON_ENCODER,
            "counted": dict(LESSON_ENCODER),
            "built_six": LESSON_ENCODER["six_layers"],
            "built_block": LESSON_ENCODER["block"],
        },
        "feed_forward": {"encoder_layer": 0.666, "decoder_layer": 0.5, "whole_model": 0.4},
    }


def test_the_rules_of_shares() -> None:
    data = hand_made()
    assert verdicts(data)["attention-most"].verdict == "depends"
    data["models"][0]["of_layers"] = data["models"][0]["of_model"]
    assert verdicts(data)["attention-most"].verdict == "confirmed"
    data["models"][0]["of_layers"] = data["models"][0]["of_model"] = {"attention": 0.4, "feed_forward": 0.6}
    assert verdicts(data)["attention-most"].verdict == "refuted"
    assert verdicts(data)["ffn-two-thirds"].verdict == "depends"
    data["feed_forward"] = dict.fromkeys(data["feed_forward"], 0.7)
    assert verdicts(data)["ffn-two-thirds"].verdict == "confirmed"
    data["feed_forward"] = dict.fromkeys(data["feed_forward"], 0.5)
    assert verdicts(data)["ffn-two-thirds"].verdict == "refuted"


def test_a_count_that_is_off_by_one_is_refuted() -> None:
    data = hand_made()
    assert verdicts(data)["count-classifier"].verdict == verdicts(data)["count-lesson"].verdict == "confirmed"
    for kind, key in (("classifier", "built_five"), ("lesson", "built_block")):
        wrong = copy.deepcopy(data)
        wrong[kind][key] += 1
        assert verdicts(wrong)[f"count-{kind}"].verdict == "refuted"
    data["classifier"]["counted"]["qkv"] += 1
    assert verdicts(data)["count-classifier"].verdict == "refuted"


@pytest.mark.slow
def test_another_model_has_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(LessonSetup())
    wider = replace(PRESETS["mini-classifier"](), d_ff=64)
    monkeypatch.setattr(parameters, "PRESETS", {**PRESETS, "mini-classifier": lambda: wider})
    after = run(LessonSetup())
    assert before["by_name"]["mini-classifier"]["built"] == before["by_name"]["mini-classifier"]["total"] == 1_009_057
    assert verdicts(before)["count-classifier"].verdict == "confirmed"
    assert verdicts(after)["count-classifier"].verdict == "refuted"


def test_shares_are_shares_of_the_built_model() -> None:
    config = PRESETS["small-translator"]()
    found = shares(count("", config).parts)
    assert sum(found.values()) == pytest.approx(1.0)
    assert found["feed_forward"] * built(config) == pytest.approx(6 * (2 * 256 * 1024 + 1024 + 256))
