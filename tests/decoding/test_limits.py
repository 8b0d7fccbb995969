from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from decoding import VOCABULARY, lively
from glassformer.decoding.limits import FREE, CheckedLimits, Limits, prepare
from glassformer.decoding.step import DecodingStart, State
from glassformer.errors import ConfigError, InputError
from glassformer.layers.attention import Cache

CPU = torch.device("cpu")
NEVER = float("-inf")


def limits(eos: Any = 2, forbidden: Any = (), max_len: Any = None, **more: Any) -> CheckedLimits:
    return Limits(eos=eos, forbidden=forbidden, max_len=max_len, **more).checked(VOCABULARY, CPU)


def start(lengths: list[int], room: list[int] | None) -> DecodingStart:
    return DecodingStart(torch.zeros(len(lengths), 1), State(Cache.empty(1)), lengths, room)


def test_by_default_the_papers_rule_for_each_sentence() -> None:
    assert limits().longest(start([3, 20], None)) == [53, 70]


def test_the_default_stops_where_the_table_of_positions_ends() -> None:
    assert limits().longest(start([3, 20], [60, 60])) == [53, 60]


def test_a_given_length_is_for_all() -> None:
    assert limits(max_len=7).longest(start([3, 20], [60, 7])) == [7, 7]


def test_more_than_the_table_has_is_refused() -> None:
    said = "max_len=61 is more than the model's table of positions has room for after this source; use 42 or less"
    with pytest.raises(InputError, match=re.escape(said)):
        limits(max_len=61).longest(start([3, 20], [60, 42]))


def test_one_end_several_or_none() -> None:
    tokens = torch.tensor([[1, 2], [3, 2]])
    assert limits(2).ended(tokens).tolist() == [[False, True], [False, True]]
    assert limits((3, 2, 3)).ended(tokens).tolist() == [[False, True], [True, True]]
    assert not limits(None).ended(tokens).any()


def test_forbidden_tokens_get_no_score() -> None:
    scores = torch.zeros(1, VOCABULARY)
    forbidden = limits(forbidden=(0, 5)).forbid(scores, 0)
    assert [i for i, score in enumerate(forbidden[0].tolist()) if score == NEVER] == [0, 5]
    assert not scores.any()
    assert limits(forbidden=(0,)).forbid_(scores, 0) is scores
    assert scores[0, 0] == NEVER
    assert limits().forbid(scores, 0) is scores


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"eos": 40}, "eos=40 is not in the vocabulary; use whole numbers from 0 to 39"),
        ({"eos": (2, -1)}, "eos=-1 is not in the vocabulary; use whole numbers from 0 to 39"),
        ({"forbidden": (1.5,)}, "forbidden=1.5 is not in the vocabulary; use whole numbers from 0 to 39"),
        ({"forbidden": range(40)}, "forbidden holds all 40 tokens of the vocabulary; leave at least one"),
    ],
)
def test_tokens_that_do_not_exist(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        limits(**given)


@pytest.mark.parametrize("max_len", [0, -3])
def test_no_tokens_at_all_is_refused(max_len: int) -> None:
    with pytest.raises(ConfigError, match=f"max_len={max_len} is out of range; use 1 to"):
        limits(max_len=max_len)


def test_a_source_must_be_a_tensor() -> None:
    with pytest.raises(InputError, match="tokens have shape – and type list"):
        prepare(lively("decoder"), [[3, 4]], Limits(eos=2))  # type: ignore[arg-type]


def test_what_must_be_said_at_the_beginning_and_at_the_longest_length() -> None:
    longest = torch.tensor([1, 3])
    assert limits().forced(0, longest) is None
    begin = limits(first=5)
    assert (begin.forced(0, longest).tolist(), begin.forced(1, longest)) == ([5, 5], None)
    both = limits(first=5, last=2)
    assert [both.forced(before, longest).tolist() for before in range(3)] == [[2, 5], [FREE, FREE], [FREE, 2]]


@pytest.mark.parametrize("key", ["first", "last"])
def test_what_must_be_said_exists(key: str) -> None:
    with pytest.raises(InputError, match=f"{key}=40 is not in the vocabulary; use whole numbers from 0 to 39"):
        limits(**{key: 40})


def test_every_sentence_is_said_in_korean() -> None:
    error = InputError("generate_too_long", max_len=61, most=42)
    assert error.in_language("ko").endswith("42 이하로 정하세요")


def test_nothing_ends_before_its_shortest_length() -> None:
    checked = Limits(eos=[1, 3], forbidden=[0], min_len=2).checked(5, CPU)
    scores = torch.zeros(2, 5)
    for before, gone in ((0, [0, 1, 3]), (1, [0, 1, 3]), (2, [0]), (9, [0])):
        assert (checked.forbid(scores, before)[1] == float("-inf")).nonzero()[:, 0].tolist() == gone
        assert (checked.forbid_(scores.clone(), before)[0] == float("-inf")).nonzero()[:, 0].tolist() == gone
    assert not scores.any()
    with pytest.raises(ConfigError, match="min_len=-1 is out of range"):
        Limits(eos=1, min_len=-1).checked(5, CPU)
