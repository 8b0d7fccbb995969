from __future__ import annotations

import pytest

from glassformer.ledger.costs import Pass
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from glassformer.tasks import kind_of
from glassformer.textbook import measured
from glassformer.textbook.measured import step
from tiny_tasks import tiny

KINDS = ("translation", "classification", "language_model", "image_classification", "forecasting")


@pytest.mark.many
@pytest.mark.parametrize("kind", KINDS)
def test_a_real_step_does_what_the_ledger_says(kind: str) -> None:
    recipe = tiny(kind)
    config = kind_of(recipe).task.sketch(recipe).model
    found = step(config, Pass(batch=4, length=8))
    assert found.measured_flops == found.predicted_flops
    assert found.measured_bytes == pytest.approx(found.predicted_bytes, rel=0.5)


def test_momentum_is_seen_on_both_sides() -> None:
    recipe = tiny("classification")
    config = kind_of(recipe).task.sketch(recipe).model
    plain, momentum = (step(config, Pass(batch=4, length=8, optimizer=name)) for name in ("sgd", "momentum"))
    assert plain.measured_bytes is not None and momentum.measured_bytes is not None
    state = 4 * sum(parameter.numel() for parameter in build(config).parameters())
    assert momentum.predicted_bytes - plain.predicted_bytes == state
    assert momentum.measured_bytes - plain.measured_bytes == state


def test_a_step_that_is_too_large_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "_flops", lambda *_: pytest.fail("too large"))
    found = step(PRESETS["paper-base"](), Pass(batch=64, length=128))
    assert (found.measured_flops, found.measured_bytes) == (None, None)
    assert found.predicted_flops > measured.MOST_FLOPS
    monkeypatch.setattr(measured, "free_memory", lambda: 1000)
    assert step(PRESETS["mini-classifier"](), Pass(batch=1, length=8)).measured_bytes is None
