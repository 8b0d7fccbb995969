from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training import focal_loss
from glassformer.lessons.training.few_digits import digits, training_images
from glassformer.lessons.training.focal_loss import LEFT, PROBABILITIES, RARE, factors, run, verdicts
from glassformer.losses import cross_entropy
from lesson_models import tiny_result

UP, AROUND, DOWN = (0.1, 0.3), (-0.1, 0.1), (-0.3, -0.1)


def judged(share: tuple[float, float], recall: tuple[float, float], factor: list[float] | None = None) -> str:
    def effect(ends: tuple[float, float]) -> dict[str, Any]:
        return {"mean": 0.0, "low": ends[0], "high": ends[1]}

    seen = {name: {"mean": 0.5} for name in ("hard", "rare", "common")}
    data = {
        "factors": {"g2": factor or [0.9, 0.5, 0.1]},
        "keeps": {"easy": 0.01, "hard": 0.81},
        "shares": {"g0": seen, "g2": seen},
        "recalls": {"g0": seen, "g2": seen},
        "effects": {"share": effect(share), "recall": effect(recall)},
    }
    return verdicts(data)["focal-hard"].verdict


def test_the_rule() -> None:
    assert judged(UP, UP) == "confirmed"
    assert judged(UP, DOWN) == judged(DOWN, UP) == "depends"
    assert judged(DOWN, DOWN) == judged(UP, DOWN, factor=[0.5, 0.5, 0.5]) == "refuted"
    assert judged(UP, AROUND) == judged(AROUND, UP) == "undecided"


def test_the_factor_is_that_of_the_formula() -> None:
    assert factors(2.0) == pytest.approx([(1 - p) ** 2 for p in PROBABILITIES])
    assert factors(0.0) == pytest.approx([1.0] * len(PROBABILITIES))


def test_two_digits_are_rare_and_the_seed_chooses_which_images_are_left() -> None:
    images = training_images(digits(LessonSetup(effort=0.01), {"kind": "cross_entropy"}))
    first, second = (focal_loss._imbalanced(images, seed) for seed in (0, 1))
    labels = np.asarray(first.fields["label"])
    assert [int((labels == k).sum()) for k in RARE] == [LEFT, LEFT]
    assert all(int((labels == k).sum()) == int((images.fields["label"] == k).sum()) for k in (0, 1, 9))
    assert first.fingerprint != second.fingerprint


@pytest.mark.slow
def test_if_focal_loss_were_cross_entropy_nothing_would_shift(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(LessonSetup(seeds=(0, 1), effort=0.3))["effects"]["share"]["mean"] > 0.01
    assert tiny_result("focal_loss")["effects"]["share"]["mean"] != 0.0

    def plain(logits: Any, targets: Any, *, gamma: float) -> Any:
        return cross_entropy(logits, targets)

    monkeypatch.setattr(focal_loss, "focal", plain)
    assert run(LessonSetup(seeds=(0, 1), effort=0.01))["effects"]["share"]["mean"] == 0.0
