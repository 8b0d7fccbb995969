from __future__ import annotations

from typing import Any

import pytest

from glassformer.data.masking import make_masking
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training import mlm_masking
from glassformer.lessons.training.mlm_masking import SAID, run, verdicts

LITTLE = LessonSetup(effort=0.2)


def data(long: float, short: float, sure: float = 0.001) -> dict[str, Any]:
    def shares(chosen: float) -> dict[str, Any]:
        said = {**SAID, "chosen": chosen}
        return {
            name: {"value": value, "low": value - sure, "high": value + sure, "total": 1000}
            for name, value in said.items()
        }

    return {"long": shares(long), "short": shares(short), "all": shares(long), "shortest": 7}


def test_the_rule() -> None:
    assert verdicts(data(0.15, 0.151))["mlm-rates"].verdict == "confirmed"
    assert verdicts(data(0.15, 0.25))["mlm-rates"].verdict == "depends"
    assert verdicts(data(0.16, 0.15))["mlm-rates"].verdict == "depends"
    assert verdicts(data(0.16, 0.16))["mlm-rates"].verdict == "refuted"
    assert verdicts(data(0.15, 0.15, sure=0.01))["mlm-rates"].verdict == "undecided"  # not to differ confirms nothing


@pytest.mark.slow
def test_the_shares_add_up() -> None:
    found = run(LITTLE)["all"]
    assert found["chosen"]["hits"] == found["masked"]["total"]
    assert sum(found[name]["hits"] for name in ("masked", "random", "kept")) == found["masked"]["total"]


@pytest.mark.slow
def test_another_masking_gives_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mlm_masking, "make_masking", lambda tokenizer: make_masking(tokenizer, rate=0.4, masked=0.5))
    found = run(LITTLE)
    assert found["long"]["chosen"]["value"] == pytest.approx(0.4, abs=0.03)
    assert found["long"]["masked"]["value"] == pytest.approx(0.5, abs=0.03)
    assert verdicts(found)["mlm-rates"].verdict == "refuted"
