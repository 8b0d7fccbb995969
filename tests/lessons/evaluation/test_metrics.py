from __future__ import annotations

import pytest

from glassformer.lessons.evaluation import metrics
from glassformer.lessons.evaluation.metrics import NAMES, _summary, run
from glassformer.lessons.setup import LessonSetup


def test_the_turn_is_the_lowest_point() -> None:
    curve = {name: [3.0, 1.0, 2.0] for name in NAMES} | {"step": [0.0, 20.0, 40.0]}
    later = {**curve, "validation_loss": [3.0, 2.0, 1.0]}
    found = _summary([curve, later])
    assert found["turns"]["values"] == [20.0, 40.0]
    assert found["lowest"]["mean"] == 1.0
    assert found["last"]["mean"] == 1.5


@pytest.mark.slow
def test_another_model_gives_other_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = LessonSetup(seeds=(0,), effort=0.01)
    before = run(setup)["few"]["validation_loss"]
    monkeypatch.setattr(metrics, "SETTINGS", {**metrics.SETTINGS, "train.learning_rate": 1e-4})
    assert run(setup)["few"]["validation_loss"][-1]["mean"] > before[-1]["mean"]
