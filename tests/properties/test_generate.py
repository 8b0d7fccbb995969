"""Properties of generation that every configuration has: over the pairwise grid, in float64."""

from __future__ import annotations

import pytest
import torch

from glassformer.decoding import Beams, Limits, beam_search, greedy
from glassformer.errors import InputError
from glassformer.models.build import build
from grid import GRID
from measure import BATCH, inputs

WRITERS = [
    config
    for config in GRID
    if config.head.kind == "language_model"
    and (config.family == "encoder-decoder" or (config.family == "decoder" and config.input.kind == "tokens"))
]
BOS, EOS, MOST = 1, 2, 6


def test_the_grid_has_all_kinds_of_models_that_write() -> None:
    assert len(WRITERS) > 20
    assert {config.family for config in WRITERS} == {"decoder", "encoder-decoder"}
    assert {config.input.kind for config in WRITERS} >= {"tokens", "image", "series"}


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["fused", "reference"])
def test_greedy_is_beam_1_and_a_batch_is_its_sentences_one_by_one(kernel: str) -> None:
    for config in WRITERS:
        model = build(config, seed=1, kernel=kernel, dtype=torch.float64)
        source = inputs(config, torch.float64)[0]
        found = greedy(model, source, limits=Limits(bos=BOS, eos=EOS, max_len=MOST))
        single = beam_search(model, source, limits=Limits(bos=BOS, eos=EOS, max_len=MOST), beams=Beams(width=1))
        wide = beam_search(model, source, limits=Limits(bos=BOS, eos=EOS, max_len=MOST), beams=Beams(width=3))
        assert [one.tokens for (one,) in found] == [one.tokens for (one,) in single]
        for row in range(BATCH):
            alone = source[row : row + 1]
            assert (
                greedy(model, alone, limits=Limits(bos=BOS, eos=EOS, max_len=MOST))[0][0].tokens == found[row][0].tokens
            )
            (other,) = beam_search(model, alone, limits=Limits(bos=BOS, eos=EOS, max_len=MOST), beams=Beams(width=3))[0]
            assert other.tokens == wide[row][0].tokens
            assert other.score == pytest.approx(wide[row][0].score, abs=1e-10)


@pytest.mark.slow
def test_a_score_is_the_log_probability_of_a_full_pass() -> None:
    for config in WRITERS:
        model = build(config, seed=1, dtype=torch.float64).eval()
        source = inputs(config, torch.float64)[0]
        for row, (best,) in enumerate(
            beam_search(model, source, limits=Limits(bos=BOS, eos=EOS, max_len=MOST), beams=Beams(width=3))
        ):
            alone = source[row : row + 1]
            tokens = torch.tensor([[*best.tokens, EOS] if best.finished else best.tokens])
            with torch.no_grad():
                if config.family == "decoder":
                    logits = model(torch.cat([alone, tokens[:, :-1]], 1))[:, alone.shape[1] - 1 :]
                else:
                    logits = model(alone, torch.cat([torch.tensor([[BOS]]), tokens[:, :-1]], 1))
            expected = logits.log_softmax(-1).gather(2, tokens[..., None]).sum().item()
            assert best.log_probability == pytest.approx(expected, abs=1e-10)


@pytest.mark.slow
def test_models_without_a_vocabulary_say_so() -> None:
    others = [config for config in GRID if config not in WRITERS]
    for config in others[::8]:
        with pytest.raises(InputError, match="cannot generate: it has no language-model head"):
            greedy(build(config, seed=0), torch.zeros(1, 1, dtype=torch.long), limits=Limits(bos=0, eos=None))
