from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from contextvars import copy_context
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

import glassformer as gf
from decoding import ENDS, EOS, FAMILIES, PAD, lively, sources
from glassformer.decoding import Limits, greedy, sample, stream_tokens
from glassformer.decoding.sampling import Draw, Sampling, apply_temperature, keep_min_p, keep_top_k, keep_top_p, share
from glassformer.errors import ConfigError, InputError
from glassformer.kernels import linear

EIGHT = torch.tensor([[0.5, 0.25, 0.125, 0.125]]).log()
NOBODY = torch.zeros(1, 1, dtype=torch.long)


def kept(logits: Tensor) -> list[int]:
    return [i for i, value in enumerate(logits[0].tolist()) if value > float("-inf")]


def random() -> Tensor:
    return 3 * torch.randn(50, 300, generator=torch.Generator().manual_seed(0))


def test_temperature_by_hand() -> None:
    # p ∝ exp(logit / ½) = p²: ¼, 1/16, 1/64, 1/64
    expected = torch.tensor([[16.0, 4.0, 1.0, 1.0]]) / 22
    torch.testing.assert_close(apply_temperature(EIGHT, 0.5).softmax(1), expected)
    assert torch.equal(apply_temperature(EIGHT, 1.0).argmax(1), EIGHT.argmax(1))


@pytest.mark.parametrize("temperature", [1e-3, 1e-30, 1e-300])
def test_towards_zero_only_the_most_probable_is_left_and_nothing_overflows(temperature: float) -> None:
    assert apply_temperature(EIGHT, temperature).softmax(1).tolist() == [[1.0, 0.0, 0.0, 0.0]]


def test_top_k_by_hand() -> None:
    assert kept(keep_top_k(EIGHT, 2)) == [0, 1]
    assert kept(keep_top_k(EIGHT, 3)) == [0, 1, 2, 3]  # two are equally probable
    assert kept(keep_top_k(EIGHT, 99)) == [0, 1, 2, 3]


def test_top_p_by_hand() -> None:
    assert kept(keep_top_p(EIGHT, 0.5)) == [0]
    assert kept(keep_top_p(EIGHT, 0.51)) == [0, 1]
    assert len(kept(keep_top_p(EIGHT, 0.8))) == 3  # one of two equally probable ones
    assert kept(keep_top_p(EIGHT, 1.0)) == [0, 1, 2, 3]
    assert kept(keep_top_p(EIGHT, 1e-9)) == [0]


def test_min_p_by_hand() -> None:
    assert kept(keep_min_p(EIGHT, 0.5)) == [0, 1]
    assert kept(keep_min_p(EIGHT, 0.51)) == [0]
    assert kept(keep_min_p(EIGHT, 0.0)) == [0, 1, 2, 3]


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 0.99])
def test_each_filter_keeps_what_hugging_face_keeps(p: float) -> None:
    logits, k = random(), int(200 * p)
    assert torch.equal(keep_top_k(logits, k), TopKLogitsWarper(k)(NOBODY, logits))
    assert torch.equal(keep_top_p(logits, p), TopPLogitsWarper(p)(NOBODY, logits))
    assert torch.equal(keep_min_p(logits, p), MinPLogitsWarper(p)(NOBODY, logits))
    torch.testing.assert_close(
        apply_temperature(logits, p).softmax(1), TemperatureLogitsWarper(p)(NOBODY, logits).softmax(1)
    )


MOST = 8


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_seed_gives_the_same_samples_and_another_seed_others(family: str) -> None:
    model, (source, mask) = lively(family), sources()
    once = sample(model, source, mask, limits=Limits(max_len=MOST, **ENDS), seed=1)
    assert sample(model, source, mask, limits=Limits(max_len=MOST, **ENDS), seed=1) == once
    assert sample(model, source, mask, limits=Limits(max_len=MOST, **ENDS), seed=2) != once


def test_without_a_seed_pytorchs_generator_is_used() -> None:
    model, (source, mask) = lively("decoder"), sources()
    torch.manual_seed(5)
    once = sample(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    assert sample(model, source, mask, limits=Limits(max_len=MOST, **ENDS)) != once
    torch.manual_seed(5)
    assert sample(model, source, mask, limits=Limits(max_len=MOST, **ENDS)) == once


def test_a_seed_leaves_pytorchs_generator_alone() -> None:
    before = torch.get_rng_state()
    sample(lively("decoder"), *sources(), limits=Limits(max_len=MOST, **ENDS), seed=1)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("options", [{"temperature": 1e-6}, {"top_k": 1}, {"top_p": 1e-9}, {"min_p": 0.999999}])
def test_at_their_ends_all_filters_are_greedy(family: str, options: dict[str, Any]) -> None:
    model, (source, mask) = lively(family), sources()
    drawn = sample(model, source, mask, limits=Limits(max_len=MOST, **ENDS), sampling=Sampling(**options), seed=0)
    assert drawn == greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))


@pytest.mark.parametrize("family", FAMILIES)
def test_leaving_the_batch_changes_nobody_elses_draws(family: str) -> None:
    model, (source, mask) = lively(family), sources(30)
    found = sample(model, source, mask, limits=Limits(max_len=MOST, **ENDS), seed=3)
    stayed = sample(model, source, mask, limits=Limits(max_len=MOST, **{**ENDS, "eos": None}), seed=3)
    assert len({len(one.tokens) for (one,) in found}) > 3
    for (one,), (other,) in zip(found, stayed, strict=True):
        whole = [*one.tokens, EOS] if one.finished else one.tokens
        assert whole == other.tokens[: len(whole)]


def test_several_samples_of_each_sentence() -> None:
    found = sample(lively("encoder-decoder"), *sources(3), limits=Limits(max_len=MOST, **ENDS), seed=0, n=5)
    assert [len(each) for each in found] == [5, 5, 5]
    assert len({tuple(one.tokens) for one in found[0]}) > 1


def test_tokens_come_as_often_as_their_probabilities_say() -> None:
    logits = torch.tensor([[0.5, 0.0, 0.2, 0.3]]).log().expand(20_000, -1)
    drawn = Draw(Sampling(), 20_000, 0)(logits, torch.arange(20_000), 0)
    counts = Counter(drawn.tolist())
    assert counts[1] == 0
    for token, p in ((0, 0.5), (2, 0.2), (3, 0.3)):
        assert abs(counts[token] / 20_000 - p) < 4 * math.sqrt(p * (1 - p) / 20_000)


def test_the_largest_uniform_number_still_draws_a_possible_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "rand", lambda n, **_: torch.full((n,), 1.0 - 2.0**-53, dtype=torch.float64))
    logits = torch.tensor([[0.0, 0.0, float("-inf")]])
    assert Draw(Sampling(), 1, 0)(logits, torch.tensor([0]), 0).tolist() == [1]


def test_filters_are_applied_one_after_the_other() -> None:
    logits = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    # top-k leaves ⁴⁄₉ ³⁄₉ ²⁄₉; of these the nucleus of ½ is two; min-p of ¾ keeps both, of 0.8 only the first.
    kept = Sampling(top_k=3, top_p=0.5, min_p=0.74).filtered(logits)
    assert kept.isfinite().tolist() == [[True, True, False, False]]
    kept = Sampling(top_k=3, top_p=0.5, min_p=0.8).filtered(logits)
    assert kept.isfinite().tolist() == [[True, False, False, False]]


def test_the_log_probability_is_the_models_own() -> None:
    model, (source, mask) = lively("decoder"), sources()
    sharp = sample(
        model, source, mask, limits=Limits(max_len=MOST, **ENDS), sampling=Sampling(temperature=1e-6), seed=0
    )
    assert [one.log_probability for (one,) in sharp] == [
        one.log_probability for (one,) in greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    ]


def test_forbidden_tokens_never_come() -> None:
    forbidden = (PAD, *range(5, 40))
    found = sample(lively("decoder"), *sources(), limits=Limits(eos=None, max_len=MOST, forbidden=forbidden), seed=0)
    assert {token for (one,) in found for token in one.tokens} == {1, 2, 3, 4}


def test_no_sentence_gives_no_hypothesis() -> None:
    assert sample(lively("decoder"), torch.zeros(0, 3, dtype=torch.long), limits=Limits(eos=EOS)) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": 0.0}, "temperature=0.0 is not positive and finite; use a number above 0"),
        ({"temperature": -1.0}, "temperature=-1.0 is not positive and finite; use a number above 0"),
        ({"temperature": float("nan")}, "temperature=nan is not positive and finite; use a number above 0"),
        ({"top_k": 0}, "top_k=0 is out of range; use 1 to"),
        ({"top_p": 0.0}, "top_p=0.0 is not a share; use more than 0, and at most 1"),
        ({"top_p": 1.1}, "top_p=1.1 is not a share; use more than 0, and at most 1"),
        ({"top_p": "0.9"}, "top_p='0.9' is of the wrong type; use a number, such as 0.1"),
        ({"min_p": 1.0}, "min_p=1.0 is not a rate; use 0 or more, and less than 1"),
        ({"seed": -1}, "seed=-1 is out of range; use 0 to"),
        ({"n": 0}, "n=0 is out of range; use 1 to"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        sampling = Sampling(**{name: value for name, value in options.items() if name not in ("seed", "n")})
        drawn = {name: value for name, value in options.items() if name in ("seed", "n")}
        sample(lively("decoder"), *sources(2), limits=Limits(max_len=2, **ENDS), sampling=sampling, **drawn)


def test_a_share_is_a_probability_above_0() -> None:
    assert share("top_p", 1) == 1.0


STREAMED = 9


def together(steps: Iterator[list[int | None]], b: int) -> list[list[int]]:
    rows = list(steps)
    return [[token for step in rows if (token := step[sentence]) is not None] for sentence in range(b)]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_stream_is_greedy_one_step_at_a_time(family: str) -> None:
    model, (source, mask) = lively(family), sources()
    expected = [one.tokens for (one,) in greedy(model, source, mask, limits=Limits(max_len=STREAMED, **ENDS))]
    assert together(stream_tokens(model, source, mask, limits=Limits(max_len=STREAMED, **ENDS)), 12) == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_a_stream_can_be_drawn(family: str) -> None:
    model, (source, mask) = lively(family), sources()
    expected = sample(
        model,
        source,
        mask,
        limits=Limits(max_len=STREAMED, **ENDS),
        sampling=Sampling(temperature=0.7, top_k=9),
        seed=4,
    )
    steps = stream_tokens(
        model,
        source,
        mask,
        limits=Limits(max_len=STREAMED, **ENDS),
        seed=4,
        sampling=Sampling(temperature=0.7, top_k=9),
    )
    assert together(steps, 12) == [one.tokens for (one,) in expected]


def test_who_has_ended_says_nothing_more() -> None:
    rows = list(stream_tokens(lively("decoder"), *sources(), limits=Limits(max_len=STREAMED, **ENDS)))
    for sentence in range(12):
        said = [row[sentence] is not None for row in rows]
        assert said == sorted(said, reverse=True)
    assert all(len(row) == 12 and any(token is not None for token in row) for row in rows)


def test_tokens_come_before_the_next_is_computed() -> None:
    model = lively("decoder")
    passes = []
    hook = model.register_forward_hook(lambda *_: passes.append(1))
    steps = stream_tokens(model, *sources(2), limits=Limits(max_len=STREAMED, **ENDS))
    assert passes == []
    next(steps)
    assert len(passes) == 1
    hook.remove()


def test_between_two_tokens_gradients_are_as_they_were_and_the_mode_comes_back() -> None:
    model = gf.build({"family": "decoder", "vocab_size": 9, "d_model": 8, "n_heads": 2, "d_ff": 8,
                      "n_decoder_layers": 1, "head": "language_model", "max_len": 30}, seed=0).train()  # fmt: skip
    steps = stream_tokens(model, torch.tensor([[3]]), limits=Limits(eos=None, max_len=4))
    next(steps)
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    assert not model.training
    steps.close()  # type: ignore[attr-defined]
    assert model.training


def test_between_two_tokens_no_weights_are_packed_for_others() -> None:
    steps = stream_tokens(lively("decoder"), *sources(2), limits=Limits(max_len=STREAMED, **ENDS))
    next(steps)
    assert linear._packed.get() is None
    copy_context().run(next, steps)  # as a server does, which reads a stream from several threads
    steps.close()  # type: ignore[attr-defined]


def test_mistakes_are_told_at_once() -> None:
    with pytest.raises(InputError, match="eos=99 is not in the vocabulary"):
        stream_tokens(lively("decoder"), *sources(2), limits=Limits(eos=99))
    with pytest.raises(InputError, match="bos is missing"):
        stream_tokens(lively("encoder-decoder"), *sources(2), limits=Limits(eos=EOS))


def test_no_sentence_no_steps() -> None:
    assert list(stream_tokens(lively("decoder"), torch.zeros(0, 3, dtype=torch.long), limits=Limits(eos=EOS))) == []
