from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.lessons.stacks.sentences import validation_sentences
from glassformer.lessons.stacks.transformer_attention import BASELINES, READINGS, Aligner, right, sizes, verdicts
from glassformer.loading import load
from lesson_models import tiny, tiny_result


def data(best: float, mean: float, against: float = -0.3) -> dict[str, Any]:
    def around(value: float) -> dict[str, Any]:
        return {"mean": value, "low": value - 0.1, "high": value + 0.1, "n": 5}

    rates = {"best": best, "mean": mean, **dict.fromkeys(BASELINES, 0.8)}
    return {
        "rates": {name: around(value) for name, value in rates.items()},
        "against": {reading: {name: around(against) for name in BASELINES} for reading in READINGS},
        "least": 0.1,
        "trained": {"best": 0.2},
    }


def test_the_rule() -> None:
    assert verdicts(data(0.2, 0.3))["cross-alignment"].verdict == "confirmed"
    assert verdicts(data(0.2, 0.7))["cross-alignment"].verdict == "depends"
    assert verdicts(data(0.7, 0.7))["cross-alignment"].verdict == "refuted"
    assert verdicts(data(0.2, 0.3, against=0.3))["cross-alignment"].verdict == "refuted"
    assert verdicts(data(0.2, 0.3, against=-0.05))["cross-alignment"].verdict == "undecided"
    assert verdicts(data(0.2, 0.45))["cross-alignment"].verdict == "undecided"


@pytest.mark.slow
def test_another_translator_gives_other_links() -> None:
    one, other = (tiny_result("transformer_attention", seed) for seed in (0, 1))
    assert one["page"]["cross"] != other["page"]["cross"]
    assert one["page"]["links"] == other["page"]["links"]
    assert one["rates"]["diagonal"] == other["rates"]["diagonal"]


@pytest.mark.slow
def test_perfect_weights_make_hardly_any_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that look at nothing but the right words: the error rate falls to what one link a word can reach."""
    loaded = load(tiny("ko-en"), device="cpu")
    aligner = Aligner(loaded.model, loaded.config, loaded.vocabularies)
    pairs = validation_sentences(12)

    def perfect(_: Tensor, source: list[int], target: list[int]) -> Tensor:
        links = next(right(pair) for pair in pairs if sizes(pair) == (max(source) + 1, max(target) + 1))
        found = torch.zeros(max(target) + 1, max(source) + 1)
        for i, j in links:
            found[j, i] = 1.0
        return found

    some = [pair for pair in pairs if [sizes(other) for other in pairs].count(sizes(pair)) == 1]
    before = aligner.judge(some, some)["best"]
    monkeypatch.setattr("glassformer.lessons.stacks.transformer_attention.word_weights", perfect)
    assert aligner.judge(some, some)["best"] < 0.25 < before
