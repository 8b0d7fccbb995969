from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training.gradient_flow import layer_gradients, run, verdicts
from glassformer.lessons.training.letters import letters
from glassformer.models.initialize import INIT_RULES

XAVIERS, NOBODYS, HES = (-0.3, -0.1), (-0.1, 0.1), (0.1, 0.3)  # intervals of Xavier − He


def data(**sides: tuple[float, float]) -> dict[str, Any]:
    def effect(name: str) -> dict[str, Any]:
        low, high = sides[name]
        return {"mean": (low + high) / 2, "low": low, "high": high}

    rule = {"loss": {"mean": 2.0}, "ratio": 1.5}
    orders = {order: {"xavier": rule, "he": rule} for order in ("post", "pre")}
    effects = {order: {name: effect(f"{name}_{order}") for name in ("spread", "loss")} for order in ("post", "pre")}
    return {"steps": 100, "orders": orders, "effects": effects}


def judged(*sides: tuple[float, float]) -> str:
    names = ("spread_post", "loss_post", "spread_pre", "loss_pre")
    return verdicts(data(**dict(zip(names, sides, strict=True))))["xavier-not-he"].verdict


def test_the_rule() -> None:
    assert judged(XAVIERS, XAVIERS, XAVIERS, XAVIERS) == "confirmed"
    assert judged(XAVIERS, XAVIERS, NOBODYS, XAVIERS) == "undecided"
    assert judged(XAVIERS, XAVIERS, NOBODYS, HES) == "depends"
    assert judged(HES, XAVIERS, HES, HES) == "depends"
    assert judged(HES, HES, HES, HES) == "refuted"
    assert judged(NOBODYS, HES, NOBODYS, NOBODYS) == "undecided"


def test_each_layer_has_its_gradient_and_a_larger_start_changes_it() -> None:
    experiment = letters(LessonSetup(effort=0.01), 3, {"model.d_model": 16, "model.d_ff": 32})
    post = {"model.norm_order": "post"}
    xavier = layer_gradients(experiment, {**post, "model.init": "xavier"}, seed=0)
    he = layer_gradients(experiment, {**post, "model.init": "he"}, seed=0)
    assert len(xavier) == 3 and min(xavier) > 0
    assert xavier != he
    assert layer_gradients(experiment, {**post, "model.init": "xavier"}, seed=0) == xavier


@pytest.mark.slow
def test_if_he_were_xavier_nothing_would_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(INIT_RULES, "he", {**INIT_RULES["xavier"]})
    monkeypatch.setattr("glassformer.models.initialize.UNIFORM", ("xavier", "he"))
    effects = run(LessonSetup(seeds=(0, 1), effort=0.01))["effects"]
    assert {effect["mean"] for order in effects.values() for effect in order.values()} == {0.0}
