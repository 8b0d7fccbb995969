from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.lessons.position.position_kinds import KINDS, loss_at, run, shown, verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.models.build import build
from lesson_models import tiny_result


def model(kind: str, seed: int = 0) -> torch.nn.Module:
    sizes: dict[str, Any] = {"d_model": 32, "n_heads": 4, "d_ff": 32, "n_decoder_layers": 1, "max_len": 64}
    config = ModelConfig(family="decoder", vocab_size=20, position=Choice(kind), head=Choice("language_model"), **sizes)
    return build(config, seed=seed).eval()


def found(*lows: float) -> dict[str, Any]:
    """Lengths 4 (known), 8 and 16, and where the interval of what is lost at each of these begins."""
    one = {"mean": 1.0, "low": 1.0, "high": 1.0}
    more = [{"mean": low + 0.1, "low": low, "high": low + 0.2} for low in (0.0, *lows)]
    kind = {"more": more, "known": one, "last": one, "five": one}
    return {"trained": 4, "lengths": [4, 8, 16], "kinds": dict.fromkeys(KINDS, kind)}


def test_the_rule() -> None:
    assert verdicts(found(-0.2, -0.2))["pe-unseen"].verdict == "confirmed"  # up to 0.0: less than what counts as none
    assert verdicts(found(-0.1, -0.2))["pe-unseen"].verdict == "undecided"
    assert verdicts(found(0.1, 0.1))["pe-unseen"].verdict == "refuted"
    depends = verdicts(found(-0.2, 0.1))["pe-unseen"]
    assert depends.verdict == "depends"
    assert (depends.measured["confirms"], depends.measured["refutes"]) == ("8", "16")


def test_the_targets_are_the_same_at_every_length() -> None:
    """A model that says the same everywhere has the same loss at every length."""
    still = model("none")
    with torch.no_grad():
        for parameter in still.parameters():
            parameter.zero_()
    texts = torch.randint(0, 20, (3, 41), generator=torch.Generator().manual_seed(0))
    assert loss_at(still, texts, 8) == loss_at(still, texts, 40) == pytest.approx(float(torch.tensor(20.0).log()))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_is_what_the_model_does(kind: str) -> None:
    matrix = shown(model(kind))["matrix"]
    assert len(matrix) == 12
    if kind in ("alibi", "relative"):
        assert matrix[0][1] is None and matrix[5][5] is not None  # the future is hatched
    if kind == "sinusoidal":
        assert matrix[0][:4] == [0.0, 1.0, 0.0, 1.0]
    if kind == "rotary":
        assert matrix[0] == [1.0] * 4
    if kind == "learned":
        assert matrix != shown(model(kind, seed=1))["matrix"]


@pytest.mark.slow
def test_another_seed_has_other_numbers() -> None:
    first, second = tiny_result("position_kinds"), run(LessonSetup(seeds=(2, 3), effort=0.01))
    assert first["kinds"]["rotary"]["known"] != second["kinds"]["rotary"]["known"]
