from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from decoding import BOS, ENDS, EOS, FAMILIES, PAD, POSITIONS, lively, one_by_one, sources
from glassformer.decoding import Hypothesis, greedy
from glassformer.decoding.limits import Limits
from glassformer.decoding.rules import accumulated
from glassformer.decoding.step import DecodingStart, State, as_decodable
from glassformer.decoding.walking import DecodingStep, collect, walk
from glassformer.errors import InputError
from glassformer.layers.attention import Cache

CPU = torch.device("cpu")


class Counting:
    """Says the number of the step, and remembers how many rows it was asked for."""

    vocab_size = 10

    def __init__(self) -> None:
        self.rows: list[int] = []

    def start(self, source: Tensor, mask: Tensor | None) -> DecodingStart:
        return DecodingStart(source[:, :1], State(Cache.empty(0)), [1] * len(source), None)

    def step(self, tokens: Tensor, state: State) -> Tensor:
        self.rows.append(len(tokens))
        return torch.eye(10)[tokens[:, 0] + 1].log().nan_to_num(neginf=-100.0)


def following(logits: Tensor, sentences: Tensor, before: int) -> Tensor:
    return logits.argmax(1)


def test_finished_sentences_leave_and_no_work_is_spent_on_them() -> None:
    model = Counting()
    checked = Limits(eos=7, max_len=4).checked(10, CPU)
    start = model.start(torch.tensor([[5], [1], [6], [4]]), None)
    found = collect(walk(model, start, checked, following), 4, checked)
    assert [each.tokens for each in found] == [[6], [2, 3, 4, 5], [], [5, 6]]
    assert [each.finished for each in found] == [True, False, True, True]
    assert model.rows == [4, 3, 2, 1]


def test_the_end_counts_in_the_log_probability() -> None:
    third = torch.tensor([0.5]).log()
    steps = [
        DecodingStep(torch.tensor([0, 1]), torch.tensor([3, 2]), third.expand(2)),
        DecodingStep(torch.tensor([0]), torch.tensor([2]), third),
    ]
    checked = Limits(eos=2, max_len=4).checked(10, CPU)
    first, second = collect(iter(steps), 2, checked)
    assert (first.tokens, second.tokens) == ([3], [])
    assert first.log_probability == first.score == 2 * third.item()
    assert second.log_probability == third.item()


@torch.inference_mode()
def test_each_sentence_has_its_own_longest_length() -> None:
    source, mask = torch.tensor([[3, 4, 5], [6, 0, 0]]), torch.tensor([[True] * 3, [True, False, False]])
    decodable = as_decodable(lively("encoder-decoder", "rotary"), BOS)
    checked = Limits(eos=None, forbidden=(EOS,)).checked(decodable.vocab_size, CPU)
    found = collect(walk(decodable, decodable.start(source, mask), checked, following), 2, checked)
    assert [len(each.tokens) for each in found] == [53, 51]
    assert not any(each.finished for each in found)


@torch.inference_mode()
def test_small_types_are_summed_in_float32() -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        assert accumulated(torch.zeros(1, 2, dtype=dtype)).dtype == torch.float32
    assert accumulated(torch.zeros(1, 2, dtype=torch.float64)).dtype == torch.float64
    decodable = as_decodable(lively("decoder"), None)
    checked = Limits(eos=EOS, max_len=2).checked(decodable.vocab_size, CPU)
    steps = walk(decodable, decodable.start(*sources()), checked, following)
    assert next(iter(steps)).log_probabilities.dtype == torch.float64


MOST = 12


def by_hand(model: nn.Module, family: str, source: Tensor, most: int = MOST) -> Hypothesis:
    """One sentence, a full pass for every token: no cache, no batch."""
    tokens, total = [], 0.0
    while len(tokens) < most:
        new = torch.tensor([tokens], dtype=torch.long)
        with torch.no_grad():
            if family == "decoder":
                logits = model(torch.cat([source, new], 1))[0, -1]
            else:
                logits = model(source, torch.cat([torch.tensor([[BOS]]), new], 1))[0, -1]
        logs = logits.log_softmax(0)
        allowed = logs.clone()
        allowed[[PAD, BOS]] = float("-inf")
        token = int(allowed.argmax())
        total += logs[token].item()
        if token == EOS:
            return Hypothesis(tokens, total, total, True)
        tokens.append(token)
    return Hypothesis(tokens, total, total, False)


def same(found: Hypothesis, expected: Hypothesis) -> bool:
    close = abs(found.log_probability - expected.log_probability) <= 1e-10
    return (found.tokens, found.finished) == (expected.tokens, expected.finished) and close


@pytest.mark.many
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_batch_on_the_cache_gives_what_full_passes_one_by_one_give(family: str, position: str) -> None:
    model, (source, mask) = lively(family, position), sources()
    found = greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    expected = [by_hand(model, family, alone) for alone in one_by_one(source, mask)]
    assert all(same(one, other) for (one,), other in zip(found, expected, strict=True))


def test_the_sentences_end_at_different_lengths() -> None:
    for family in FAMILIES:
        found = greedy(lively(family), *sources(40), limits=Limits(max_len=MOST, **ENDS))
        lengths = {len(best.tokens) for (best,) in found}
        assert len(lengths) > 4
        assert {best.finished for (best,) in found} == {True, False}


@pytest.mark.parametrize("position", POSITIONS)
def test_padding_of_prompts_on_either_side_changes_nothing(position: str) -> None:
    model, (source, mask) = lively("decoder", position), sources()
    right = greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    left = greedy(model, source.flip(1), mask.flip(1), limits=Limits(max_len=MOST, **ENDS))
    lengths = mask.sum(1).tolist()
    turned = torch.stack([torch.cat([row[:n].flip(0), row[n:]]) for row, n in zip(source, lengths, strict=True)])
    assert right != left  # another order of words
    left = greedy(model, turned.flip(1), mask.flip(1), limits=Limits(max_len=MOST, **ENDS))
    assert all(same(one, other) for (one,), (other,) in zip(right, left, strict=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_leaving_the_batch_changes_nothing_for_the_others(family: str) -> None:
    model, (source, mask) = lively(family), sources(40)
    found = greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    stayed = greedy(model, source, mask, limits=Limits(max_len=MOST, **{**ENDS, "eos": None}))
    for (one,), (other,) in zip(found, stayed, strict=True):
        whole = [*one.tokens, EOS] if one.finished else one.tokens
        assert whole == other.tokens[: len(whole)]
        assert len(other.tokens) == MOST and not other.finished


def test_a_source_of_padding_alone_gives_no_nan_and_disturbs_nobody() -> None:
    model, (source, mask) = lively("encoder-decoder"), sources(4)
    expected = greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    mask[2] = False
    found = greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    assert torch.tensor([best.log_probability for (best,) in found]).isfinite().all()
    assert all(same(found[row][0], expected[row][0]) for row in (0, 1, 3))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_in_training_is_in_training_again_afterwards(family: str) -> None:
    model = gf.build(
        {"family": family, "vocab_size": 20, "d_model": 8, "n_heads": 2, "d_ff": 8, "dropout": 0.5,
         "n_decoder_layers": 1, "head": "language_model", "max_len": 30},
        seed=0,
    )  # fmt: skip
    model.eval()
    expected = greedy(model, torch.tensor([[3, 4]]), limits=Limits(bos=1, eos=2, max_len=9))
    model.train()
    assert greedy(model, torch.tensor([[3, 4]]), limits=Limits(bos=1, eos=2, max_len=9)) == expected
    assert all(module.training for module in model.modules())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("family", FAMILIES)
def test_small_types(family: str, dtype: torch.dtype) -> None:
    model = lively(family, "sinusoidal", dtype)
    found = greedy(model, *sources(4), limits=Limits(max_len=6, **ENDS))
    assert all(len(best.tokens) <= 6 and best.log_probability < 0 for (best,) in found)
    exact = torch.tensor(found[0][0].log_probability)
    assert exact.to(dtype).float() != exact  # a sum that the small type could not hold


def test_watching_changes_nothing() -> None:
    model, (source, mask) = lively("encoder-decoder"), sources()
    plain = greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    with gf.record(model) as trace:
        assert greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS)) == plain
    assert trace["head.logits"].isfinite().all()  # nothing was forbidden in what was recorded


def test_no_sentence_gives_no_hypothesis() -> None:
    assert greedy(lively("decoder"), torch.zeros(0, 3, dtype=torch.long), limits=Limits(eos=EOS)) == []


def test_longer_than_the_model_can() -> None:
    with pytest.raises(InputError, match=r"max_len=65 is more than the model's table of positions .* use 64 or less"):
        greedy(lively("encoder-decoder"), *sources(2), limits=Limits(max_len=65, **ENDS))
    with pytest.raises(InputError, match="use 58 or less"):
        greedy(lively("decoder"), *sources(2), limits=Limits(max_len=59, **ENDS))
    found = greedy(lively("decoder"), *sources(2), limits=Limits(max_len=58, **{**ENDS, "eos": None}))
    assert [len(best.tokens) for (best,) in found] == [58, 58]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_forced_first_token_is_certain_and_the_rest_follows_from_it(family: str) -> None:
    model, (source, mask) = lively(family), sources()
    found = greedy(model, source, mask, limits=Limits(max_len=MOST, first=PAD, **ENDS))
    for (one,), alone in zip(found, one_by_one(source, mask), strict=True):
        assert one.tokens[0] == PAD  # forbidden everywhere else
        if family == "decoder":
            (expected,) = greedy(
                model, torch.cat([alone, torch.tensor([[PAD]])], 1), limits=Limits(max_len=MOST - 1, **ENDS)
            )[0]
            assert one.tokens[1:] == expected.tokens
            assert one.log_probability == pytest.approx(expected.log_probability, abs=1e-10)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_forced_last_token_ends_what_would_not_end(family: str) -> None:
    model, (source, mask) = lively(family), sources(40)
    free = greedy(model, source, mask, limits=Limits(max_len=MOST, **ENDS))
    found = greedy(model, source, mask, limits=Limits(max_len=MOST, last=EOS, **ENDS))
    assert not all(one.finished for (one,) in free) and all(one.finished for (one,) in found)
    for (one,), (other,) in zip(free, found, strict=True):
        assert other.tokens == (one.tokens if one.finished else one.tokens[:-1])
