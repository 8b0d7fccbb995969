from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.layers.attention.multi_head import MultiHeadAttention
from glassformer.lessons.stacks.decoder_attention import run, verdicts
from lesson_models import tiny_setup

PATHS = {
    "q": {"decoder": 1.0, "encoder": 0.0},
    "k": {"decoder": 0.0, "encoder": 1.0},
    "v": {"decoder": 0.0, "encoder": 1.0},
    "output": {"decoder": 1.0, "encoder": 1.0},
}


@pytest.mark.parametrize(
    ("part", "side"), [("q", "encoder"), ("k", "decoder"), ("v", "decoder"), ("output", "encoder")]
)
def test_the_rule(part: str, side: str) -> None:
    assert verdicts({"direct": [PATHS, PATHS]})["cross-attention"].verdict == "confirmed"
    other: dict[str, Any] = deepcopy(PATHS)
    other[part][side] = 0.0 if part == "output" else 1e-30
    assert verdicts({"direct": [PATHS, other]})["cross-attention"].verdict == "refuted"


@pytest.mark.slow
def test_another_box_changes_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = tiny_setup("decoder_attention")
    data = run(setup)
    assert verdicts(data)["cross-attention"].verdict == "confirmed" and data["future"] == 0
    plain = MultiHeadAttention._queries

    def asks_memory(self: MultiHeadAttention, x: Tensor, rotation: Any) -> Tensor:
        """A query that has looked at what it asks: its input is not the stream alone."""
        return plain(self, x + asks_memory.memory.mean(), rotation)  # type: ignore[attr-defined]

    forward = MultiHeadAttention.forward

    def remembers(self: MultiHeadAttention, q: Tensor, k: Tensor, v: Tensor, *rest: Any, **more: Any) -> Tensor:
        asks_memory.memory = k  # type: ignore[attr-defined]
        return forward(self, q, k, v, *rest, **more)

    asks_memory.memory = torch.zeros(1)  # type: ignore[attr-defined]
    monkeypatch.setattr(MultiHeadAttention, "_queries", asks_memory)
    monkeypatch.setattr(MultiHeadAttention, "forward", remembers)
    assert verdicts(run(setup))["cross-attention"].verdict == "refuted"
