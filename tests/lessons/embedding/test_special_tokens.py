from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.layers.embedding import TokenEmbedding
from glassformer.lessons.embedding.special_tokens import look, verdicts
from lesson_models import tiny_result


def found(before: float, after: float) -> dict[str, Any]:
    def at(separation: float) -> dict[str, Any]:
        return {"separation": {"mean": separation, "low": separation, "high": separation}, "inside": {"mean": 0.5}}

    noise = {"before": at(0.5), "after": at(0.5)}
    return {"found": {"sine": {"before": at(before), "after": at(after)}, "noise": noise}}


def test_the_rule() -> None:
    assert verdicts(found(1.0, 0.99))["special-distinct"].verdict == "confirmed"
    assert verdicts(found(1.0, 0.9))["special-distinct"].verdict == "depends"
    assert verdicts(found(0.9, 0.5))["special-distinct"].verdict == "refuted"
    assert verdicts(found(1.0, 0.95))["special-distinct"].verdict == "undecided"


def test_separation_is_1_for_a_group_of_its_own_and_a_half_for_equal_vectors() -> None:
    apart = torch.tensor([[1.0, 0.1], [1.0, 0.0], [1.0, -0.1], [0.0, 1.0], [0.0, -1.0]], dtype=torch.float64)
    assert look(apart, 3)["separation"] == 1.0
    assert look(torch.ones(5, 2, dtype=torch.float64), 3)["separation"] == 0.5


def test_a_sinusoidal_beginning_separates_and_noise_does_not() -> None:
    torch.manual_seed(0)
    sine, noise = (
        look(TokenEmbedding(vocab_size=400, d_model=64, special_tokens=n).weight.detach().double(), 7) for n in (7, 0)
    )
    assert sine["separation"] > 0.99 > 0.75 > noise["separation"]
    assert sine["inside"] > 0.5 > abs(noise["inside"])


@pytest.mark.slow
def test_another_model_has_other_numbers() -> None:
    first, second = (tiny_result("special_tokens", seed) for seed in (0, 1))
    assert first["found"] == second["found"]  # trained here, from the same seeds
    assert first["recipe"] != second["recipe"]
