from __future__ import annotations

import torch
from torch import Tensor

from decoding import BOS, EOS, lively, sources
from glassformer.decoding.limits import Limits
from glassformer.decoding.state import State
from glassformer.decoding.step import Start, decodable
from glassformer.decoding.walk import Step, accumulated, collect, walk
from glassformer.layers.attention import Cache

CPU = torch.device("cpu")


class Counting:
    """Says the number of the step, and remembers how many rows it was asked for."""

    vocab_size = 10

    def __init__(self) -> None:
        self.rows: list[int] = []

    def start(self, source: Tensor, mask: Tensor | None) -> Start:
        return Start(source[:, :1], State(Cache.empty(0)), [1] * len(source), None)

    def step(self, tokens: Tensor, state: State) -> Tensor:
        self.rows.append(len(tokens))
        return torch.eye(10)[tokens[:, 0] + 1].log().nan_to_num(neginf=-100.0)


def following(logits: Tensor, sentences: Tensor, before: int) -> Tensor:
    return logits.argmax(1)


def test_finished_sentences_leave_and_no_work_is_spent_on_them() -> None:
    model = Counting()
    limits = Limits.of(10, 7, (), 4, CPU)
    start = model.start(torch.tensor([[5], [1], [6], [4]]), None)
    found = collect(walk(model, start, limits, following), 4, limits)
    assert [each.tokens for each in found] == [[6], [2, 3, 4, 5], [], [5, 6]]
    assert [each.finished for each in found] == [True, False, True, True]
    assert model.rows == [4, 3, 2, 1]


def test_the_end_counts_in_the_log_probability() -> None:
    third = torch.tensor([0.5]).log()
    steps = [
        Step(torch.tensor([0, 1]), torch.tensor([3, 2]), third.expand(2)),
        Step(torch.tensor([0]), torch.tensor([2]), third),
    ]
    limits = Limits.of(10, 2, (), 4, CPU)
    first, second = collect(iter(steps), 2, limits)
    assert (first.tokens, second.tokens) == ([3], [])
    assert first.log_probability == first.score == 2 * third.item()
    assert second.log_probability == third.item()


@torch.inference_mode()
def test_each_sentence_has_its_own_longest_length() -> None:
    source, mask = torch.tensor([[3, 4, 5], [6, 0, 0]]), torch.tensor([[True] * 3, [True, False, False]])
    way = decodable(lively("encoder-decoder", "rotary"), BOS)
    limits = Limits.of(way.vocab_size, None, (EOS,), None, CPU)
    found = collect(walk(way, way.start(source, mask), limits, following), 2, limits)
    assert [len(each.tokens) for each in found] == [53, 51]
    assert not any(each.finished for each in found)


@torch.inference_mode()
def test_small_types_are_summed_in_float32() -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        assert accumulated(torch.zeros(1, 2, dtype=dtype)).dtype == torch.float32
    assert accumulated(torch.zeros(1, 2, dtype=torch.float64)).dtype == torch.float64
    way = decodable(lively("decoder"), None)
    steps = walk(way, way.start(*sources()), Limits.of(way.vocab_size, EOS, (), 2, CPU), following)
    assert next(iter(steps)).log_probabilities.dtype == torch.float64
