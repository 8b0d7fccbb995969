from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.families import price_of_attention
from glassformer.lessons.families.price_of_attention import run, verdicts
from glassformer.lessons.setup import LessonSetup


def data(pairs: tuple[int, int], rest: tuple[int, int]) -> dict[str, Any]:
    rows = [
        {"length": 128 * 2**i, "pairs": p, "rest": r, "share": p / (p + r)}
        for i, (p, r) in enumerate(zip(pairs, rest, strict=True))
    ]
    return {"rows": rows, "half": 256, "equal": 100.0, "d_model": 8, "clock": [{"length": 64}]}


def test_the_rule() -> None:
    assert verdicts(data((10, 40), (1, 2)))["attention-quadratic"].verdict == "confirmed"
    assert verdicts(data((10, 40), (15, 30)))["attention-quadratic"].verdict == "depends"
    assert verdicts(data((10, 30), (15, 30)))["attention-quadratic"].verdict == "refuted"
    assert verdicts(data((10, 40), (100, 200)))["attention-quadratic"].verdict == "refuted"


def test_the_formula_is_the_ledger() -> None:
    found = run(LessonSetup(effort=0.01))
    d, d_ff, layers = found["d_model"], found["d_ff"], found["n_encoder_layers"]
    for row in found["rows"]:
        n = row["length"]
        assert row["pairs"] == layers * 4 * n * n * d
        assert row["rest"] == layers * (8 * n * d * d + 4 * n * d * d_ff)
    assert found["equal"] == 6 * d


def test_another_model_has_another_share(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(LessonSetup(effort=0.01))["first"]["share"]
    monkeypatch.setattr(price_of_attention, "BASE", {**price_of_attention.BASE, "d_ff": 512})
    assert run(LessonSetup(effort=0.01))["first"]["share"] > before
