from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training.accumulation import TOLERANCE, error, run, verdicts
from glassformer.training.step import Stepper
from lesson_models import tiny_result


def found(whole: float, naive: float) -> dict[str, Any]:
    def seen(*values: float) -> list[dict[str, Any]]:
        return [{"mean": sum(values) / len(values), "values": list(values)}] * 2

    lengths = {
        "ragged": {"whole": seen(0.0, whole), "naive": seen(naive)},
        "equal": {"whole": seen(0.0, whole), "naive": seen(1e-15)},
    }
    return {"tolerance": TOLERANCE, "parts": [2, 4], "found": lengths}


def test_the_rule() -> None:
    assert verdicts(found(1e-15, 0.1))["accumulation"].verdict == "depends"
    assert verdicts(found(1e-15, 1e-15))["accumulation"].verdict == "confirmed"
    assert verdicts(found(0.1, 0.1))["accumulation"].verdict == "refuted"


def test_the_error_is_relative() -> None:
    assert error(torch.tensor([3.0, 4.0]), torch.tensor([0.0, 4.0])) == 0.75


@pytest.mark.slow
def test_a_step_that_divides_part_by_part_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stepper that takes the mean of means in place of the package's."""
    before = tiny_result("accumulation")
    assert before["worst"]["ragged"]["whole"] <= TOLERANCE
    right = Stepper.gradients

    def naive(stepper: Stepper, batches: Any, count: int) -> Tensor:
        parts, total = [], torch.zeros(())
        for batch in batches:
            total = right(stepper, [batch], batch.count)
            parts.append([p.grad.clone() for p in stepper.model.parameters() if p.grad is not None])
        used = [p for p in stepper.model.parameters() if p.grad is not None]
        for parameter, gradients in zip(used, zip(*parts, strict=True), strict=True):
            parameter.grad = torch.stack(gradients).mean(0)
        return total

    monkeypatch.setattr(Stepper, "gradients", naive)
    after = run(LessonSetup(seeds=(0,)))
    assert after["worst"]["ragged"]["whole"] > 1e-3 > TOLERANCE
