from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.lessons.feed_forward.ffn_memory import (
    FIRST_WORD,
    RELATIONS,
    TOP,
    WORDS,
    copies,
    facts,
    right,
    switched_off,
    taught,
    units,
    verdicts,
)


def hand_made(stored: float, more: float) -> dict[str, Any]:
    def surplus(mean: float) -> dict[str, float]:
        return {"mean": mean, "low": mean - 0.1, "high": mean + 0.1}

    specific = {"feed_forward": surplus(stored), "attention": surplus(stored - more)}
    return {"facts": {}, "copy": {}, "specific": specific, "more_specific": surplus(more)}


def test_the_rule() -> None:
    assert verdicts(hand_made(0.8, 0.8))["ffn-memory"].verdict == "confirmed"
    assert verdicts(hand_made(-0.5, 0.8))["ffn-memory"].verdict == "refuted"
    assert verdicts(hand_made(0.8, -0.5))["ffn-memory"].verdict == "refuted"
    assert verdicts(hand_made(0.8, 0.05))["ffn-memory"].verdict == "undecided"


def test_facts_and_copies() -> None:
    random = torch.Generator().manual_seed(0)
    known, (shown, unseen) = facts(random), copies(random)
    assert len(known.answers) == WORDS * RELATIONS and known.answers.min() >= FIRST_WORD
    assert len(shown.answers) + len(unseen.answers) == WORDS**2
    assert torch.equal(unseen.answers, unseen.tokens[:, 0])
    assert not {tuple(row) for row in shown.tokens.tolist()} & {tuple(row) for row in unseen.tokens.tolist()}
    assert not torch.equal(known.answers, facts(torch.Generator().manual_seed(1)).answers)


def test_what_is_switched_off_is_what_is_said() -> None:
    model: Any
    model, asked = taught(0, steps=2)
    found = switched_off(model, asked["facts"])
    with torch.no_grad():
        for block in model.decoder.blocks:
            for matrix in (block.feed_forward.w_2, block.self_attention.w_o):
                matrix.weight.zero_()
                matrix.bias.zero_()
    assert found["nothing"] >= 0 and set(switched_off(model, asked["facts"]).values()) == {right(model, asked["facts"])}


@pytest.mark.slow
def test_facts_can_be_taught() -> None:
    model, asked = taught(0, steps=120)
    assert right(model, asked["facts"]) > 0.5
    found = units(model, asked["facts"], seed=0)
    assert found["top"] == TOP and all(0 <= found[kind] <= 1 for kind in ("own", "of_another", "any"))
