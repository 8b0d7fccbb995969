from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.layers.position.sinusoidal import sinusoid
from glassformer.lessons.position import positional_encoding
from glassformer.lessons.position.positional_encoding import linear_map, run, values, verdicts
from glassformer.lessons.setup import LessonSetup


def found(**changed: Any) -> dict[str, Any]:
    row = {"error": 0.0, "difference_spread": 0.0, "difference_cosine": 1.0, "distance": 1.0, "distance_spread": 0.0}
    row |= {name: value for name, value in changed.items() if name in row}
    return {
        "d_model": 128,
        "last": 10,
        "tolerance": 1e-12,
        "offsets": [row],
        "near": row,
        "noise": {"left": 1.0},
        "falling": 0.9,
        "similarity": changed.get("similarity", {"64": [0.9, 0.8, 0.7, 0.6], "128": [0.9, 0.8, 0.7, 0.6]}),
        "periods": list(changed.get("periods", (6.0, 7.0, 8.0))),
    }


def test_the_exact_rules() -> None:
    assert {verdict.verdict for verdict in verdicts(found()).values()} == {"confirmed"}
    assert verdicts(found(error=1e-9))["pe-linear"].verdict == "refuted"
    assert verdicts(found(difference_spread=0.1))["pe-difference"].verdict == "refuted"
    assert verdicts(found(distance_spread=1e-9))["pe-distance"].verdict == "refuted"
    assert verdicts(found(periods=(6.0, 6.0)))["pe-frequency"].verdict == "refuted"


def test_the_rule_of_nearness() -> None:
    falls, rises = [0.9, 0.8, 0.7, 0.6], [0.9, 0.8, 0.85, 0.6]
    assert verdicts(found(similarity={"64": rises, "128": falls}))["pe-near"].verdict == "depends"
    assert verdicts(found(similarity={"64": rises, "128": rises}))["pe-near"].verdict == "refuted"


def test_the_map_of_an_offset_by_hand() -> None:
    """d_model 2: one hand that turns by one radian a position."""
    sine, cosine = torch.tensor(3.0, dtype=torch.float64).sin(), torch.tensor(3.0, dtype=torch.float64).cos()
    assert torch.equal(linear_map(3, 2), torch.stack([torch.stack([cosine, sine]), torch.stack([-sine, cosine])]))
    now, later = sinusoid(torch.tensor([5, 8]), 6, dtype=torch.float64)
    assert torch.allclose(linear_map(3, 6) @ now, later, atol=1e-14, rtol=0)


@pytest.mark.slow
def test_a_period_is_that_of_the_formula() -> None:
    periods = run(LessonSetup(seeds=(0,)))["periods"]
    assert periods == pytest.approx([2 * torch.pi * 10000 ** (2 * i / 128) for i in range(64)])


def test_a_byte_keeps_what_a_picture_shows() -> None:
    numbers = torch.linspace(-1, 1, 7)[None]
    assert torch.allclose(torch.tensor(values(positional_encoding._bytes(numbers))), numbers, atol=0.005)


@pytest.mark.slow
def test_what_is_measured_changes_with_the_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    before = verdicts(run(LessonSetup(seeds=(0,))))

    def straight(at: Tensor, d_model: int, **_: Any) -> Tensor:
        return (at.double()[:, None] + 1) * torch.ones(d_model, dtype=torch.float64)

    monkeypatch.setattr(positional_encoding, "sinusoid", straight)
    after = verdicts(run(LessonSetup(seeds=(0,))))
    assert before["pe-linear"].verdict == after["pe-difference"].verdict == "confirmed"
    assert after["pe-linear"].verdict == before["pe-difference"].verdict == "refuted"
