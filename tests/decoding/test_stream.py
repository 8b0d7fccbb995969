from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import glassformer as gf
from decoding import ENDS, EOS, FAMILIES, lively, sources
from glassformer.decoding import Sampling, greedy, sample, stream
from glassformer.errors import InputError

MOST = 9


def together(steps: Iterator[list[int | None]], b: int) -> list[list[int]]:
    rows = list(steps)
    return [[token for step in rows if (token := step[sentence]) is not None] for sentence in range(b)]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_stream_is_greedy_one_step_at_a_time(family: str) -> None:
    model, (source, mask) = lively(family), sources()
    expected = [one.tokens for (one,) in greedy(model, source, mask, max_len=MOST, **ENDS)]
    assert together(stream(model, source, mask, max_len=MOST, **ENDS), 12) == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_a_stream_can_be_drawn(family: str) -> None:
    model, (source, mask) = lively(family), sources()
    expected = sample(model, source, mask, max_len=MOST, seed=4, temperature=0.7, top_k=9, **ENDS)
    steps = stream(model, source, mask, max_len=MOST, seed=4, sampling=Sampling(temperature=0.7, top_k=9), **ENDS)
    assert together(steps, 12) == [one.tokens for (one,) in expected]


def test_who_has_ended_says_nothing_more() -> None:
    rows = list(stream(lively("decoder"), *sources(), max_len=MOST, **ENDS))
    for sentence in range(12):
        said = [row[sentence] is not None for row in rows]
        assert said == sorted(said, reverse=True)
    assert all(len(row) == 12 and any(token is not None for token in row) for row in rows)


def test_tokens_come_before_the_next_is_computed() -> None:
    model = lively("decoder")
    passes = []
    hook = model.register_forward_hook(lambda *_: passes.append(1))
    steps = stream(model, *sources(2), max_len=MOST, **ENDS)
    assert passes == []
    next(steps)
    assert len(passes) == 1
    hook.remove()


def test_between_two_tokens_gradients_are_as_they_were_and_the_mode_comes_back() -> None:
    model = gf.build({"family": "decoder", "vocab_size": 9, "d_model": 8, "n_heads": 2, "d_ff": 8,
                      "n_decoder_layers": 1, "head": "language_model", "max_len": 30}, seed=0).train()  # fmt: skip
    steps = stream(model, torch.tensor([[3]]), eos=None, max_len=4)
    next(steps)
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    assert not model.training
    steps.close()  # type: ignore[attr-defined]
    assert model.training


def test_mistakes_are_told_at_once() -> None:
    with pytest.raises(InputError, match="eos=99 is not in the vocabulary"):
        stream(lively("decoder"), *sources(2), eos=99)
    with pytest.raises(InputError, match="bos is missing"):
        stream(lively("encoder-decoder"), *sources(2), eos=EOS)


def test_no_sentence_no_steps() -> None:
    assert list(stream(lively("decoder"), torch.zeros(0, 3, dtype=torch.long), eos=EOS)) == []
