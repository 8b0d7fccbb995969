from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.layers.attention.mask import Mask
from glassformer.lessons.attention.masking import filled, run, verdicts
from glassformer.models.stack import Stack
from lesson_models import tiny_result, tiny_setup


def found(largest: float) -> dict[str, Any]:
    return {"largest": largest, "models": 3, "trained": {"unmasked": 1.0, "alone": 1e-7}}


def test_the_rule() -> None:
    assert verdicts(found(0.0))["pad-blocked"].verdict == "confirmed"
    assert verdicts(found(1e-30))["pad-blocked"].verdict == "refuted"


def test_only_padding_is_replaced() -> None:
    tokens, mask = torch.zeros(2, 4, dtype=torch.long), torch.tensor([[True] * 4, [True, False, False, False]])
    other = filled(tokens, mask, 1000, seed=0)
    assert (other[mask] == 0).all() and (other[~mask] != 0).any()


@pytest.mark.slow
def test_a_model_that_forgets_its_mask_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = tiny_setup("masking")
    data = tiny_result("masking")
    assert verdicts(data)["pad-blocked"].verdict == "confirmed"
    assert data["small"]["unmasked_least"] > 0.0 and data["trained"]["unmasked"] > 0.0
    assert data["combined"][0] == [1] + [0] * (len(data["combined"]) - 1)

    def forgetful(self: Stack, everywhere: Mask, t: int, s: int, device: torch.device) -> list[Mask]:
        return [Mask(causal=everywhere.causal)] * len(self.blocks)

    monkeypatch.setattr(Stack, "rules", forgetful)
    assert verdicts(run(setup))["pad-blocked"].verdict == "refuted"
