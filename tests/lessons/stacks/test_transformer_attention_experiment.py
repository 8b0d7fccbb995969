from __future__ import annotations

import pytest
import torch
from torch import Tensor

from glassformer.lessons.stacks.sentences import held_out
from glassformer.lessons.stacks.transformer_attention_experiment import Aligner, right, sizes
from glassformer.loading import load
from lesson_models import tiny


@pytest.mark.slow
def test_perfect_weights_make_hardly_any_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that look at nothing but the right words: the error rate falls to what one link a word can reach."""
    loaded = load(tiny("ko-en"), device="cpu")
    aligner = Aligner(loaded.model, loaded.config, loaded.vocabularies)
    pairs = held_out(12)

    def perfect(_: Tensor, source: list[int], target: list[int]) -> Tensor:
        links = next(right(pair) for pair in pairs if sizes(pair) == (max(source) + 1, max(target) + 1))
        found = torch.zeros(max(target) + 1, max(source) + 1)
        for i, j in links:
            found[j, i] = 1.0
        return found

    some = [pair for pair in pairs if [sizes(other) for other in pairs].count(sizes(pair)) == 1]
    before = aligner.judge(some, some)["best"]
    monkeypatch.setattr("glassformer.lessons.stacks.transformer_attention_experiment.word_weights", perfect)
    assert aligner.judge(some, some)["best"] < 0.25 < before
