from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.attention import worked_example
from glassformer.lessons.attention.worked_example import CLAIMED, run, verdicts
from glassformer.models.presets import PRESETS
from lesson_models import tiny_result, tiny_setup


def recorded(**changed: list[int]) -> dict[str, Any]:
    return {"shapes": {**CLAIMED, **changed}, "written": {}}


def test_the_rule() -> None:
    assert verdicts(recorded())["worked-shapes"].verdict == "confirmed"
    assert verdicts(recorded(scores=[8, 3, 4]))["worked-shapes"].verdict == "refuted"


@pytest.mark.slow
def test_the_way_is_computed_again_by_hand_and_changes_with_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = tiny_setup("worked_example")
    data = tiny_result("worked_example")
    assert verdicts(data)["worked-shapes"].verdict == "confirmed"
    by_hand, weights = data["by_hand"], data["numbers"]["weights"]
    assert by_hand["error"] < 1e-5
    assert by_hand["score"] == pytest.approx(data["numbers"]["scores"][0][-1][1], rel=1e-4)
    assert by_hand["weight"] == pytest.approx(weights[0][-1][1], rel=1e-4)
    assert [len(data["question"][kind][0]) for kind in ("untrained", "trained")] == [3, len(data["question"]["pieces"])]

    monkeypatch.setattr(worked_example, "MODEL", "small-translator")
    assert "small-translator" in PRESETS
    other = run(setup)
    assert other["shapes"]["q"] == [4, 3, 64]
    assert verdicts(other)["worked-shapes"].verdict == "refuted"
