from __future__ import annotations

import json
import math

import pytest
import torch

from glassformer.comparison import difference as compare_difference
from glassformer.comparison.difference import AnswerDifference, Parting, compare_answers, compare_tap, parting

NAN, INF = math.nan, math.inf


def test_the_largest_difference_its_place_and_what_stands_there() -> None:
    a = torch.tensor([[1.0, -4.0, 2.0], [0.0, 3.0, 1.0]])
    b = torch.tensor([[1.0, -4.5, 2.0], [0.0, 1.0, 1.0]])
    found = compare_tap("x", a, b)
    assert (found.tap, found.shape, found.at) == ("x", (2, 3), (1, 1))
    assert (found.largest, found.a, found.b) == (2.0, 3.0, 1.0)
    assert found.relative == 2.0 / 4.5  # the largest number of either side
    assert found.beyond(0.4) and not found.beyond(0.45)
    assert json.loads(json.dumps(found.to_json()))["at"] == [1, 1]


def test_no_difference() -> None:
    found = compare_tap("x", torch.zeros(2, 2), -torch.zeros(2, 2))
    assert (found.largest, found.relative) == (0.0, 0.0)
    assert not found.beyond(0.0)


def test_a_single_number() -> None:
    assert compare_tap("x", torch.tensor(1.0), torch.tensor(3.0)).at == ()


def test_padding_does_not_count() -> None:
    a, b = torch.zeros(2, 3, 4), torch.zeros(2, 3, 4)
    b[1, 2], b[0, 1, 3] = 1000.0, 0.5
    real = torch.tensor([[True, True, True], [True, True, False]])[:, :, None]
    found = compare_tap("x", a, b, real)
    assert (found.largest, found.relative, found.at) == (0.5, 1.0, (0, 1, 3))


@pytest.mark.parametrize(
    ("a", "b", "largest", "relative"),
    [
        ([NAN, 1.0], [NAN, 1.0], 0.0, 0.0),
        ([INF, 1.0], [INF, 1.5], 0.5, 0.5 / 1.5),
        ([NAN, 1.0], [2.0, 1.0], INF, INF),
        ([INF, 1.0], [-INF, 1.0], INF, INF),
        ([INF, 0.0], [1.0, 0.0], INF, INF),
        ([NAN, NAN], [INF, NAN], INF, INF),
    ],
)
def test_numbers_that_are_none(a: list[float], b: list[float], largest: float, relative: float) -> None:
    found = compare_tap("x", torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64))
    assert (found.largest, found.relative) == (largest, relative)


def test_piece_by_piece_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = torch.Generator().manual_seed(0)
    a = torch.randn(3, 5, 7, generator=random)
    b = a + 1e-3 * torch.randn(3, 5, 7, generator=random)
    real = torch.rand(3, 5, 1, generator=random) > 0.3
    whole = compare_tap("x", a, b, real)
    monkeypatch.setattr(compare_difference, "PIECE", 4)
    assert compare_tap("x", a, b, real) == whole


def test_types_of_numbers_may_differ() -> None:
    found = compare_tap("x", torch.tensor([1.0 / 3.0], dtype=torch.float64), torch.tensor([1.0 / 3.0]))
    assert 0.0 < found.relative < 1e-7


def test_answers_that_differ() -> None:
    a = torch.tensor([[[1.0, 2.0], [3.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]])
    b = a.clone()
    b[0, 1], b[1, 1] = torch.tensor([0.0, 3.0]), torch.tensor([1.0, 0.0])
    assert compare_answers(a, b) == AnswerDifference(2, 4, (0, 1))
    real = torch.tensor([[True, False], [True, True]])[:, :, None]
    assert compare_answers(a, b, real) == AnswerDifference(1, 3, (1, 1))
    assert compare_answers(a, a) == AnswerDifference(0, 4, None)
    assert compare_answers(a[:, 0], b[:, 0]) == AnswerDifference(0, 2, None)


def test_answers_of_two_vocabularies_can_be_compared_those_of_two_lengths_cannot() -> None:
    a = torch.randn(2, 3, 5)
    assert compare_answers(a, torch.cat([a, a - 9.0], -1)) == AnswerDifference(0, 6, None)
    assert compare_answers(a, a[:, :2]) is None


def test_where_two_structures_part() -> None:
    a = {"x": (1, 2), "y": (3,), "z": (4,)}
    assert parting(a, dict(a)) is None
    assert parting(a, {"x": (1, 2), "w": (3,)}) == Parting(1, "y", "w", (3,), (3,))
    assert parting(a, {**a, "y": (5,)}) == Parting(1, "y", "y", (3,), (5,))
    assert parting(a, {"x": (1, 2), "y": (3,)}) == Parting(2, "z", "", (4,), ())
    assert parting({}, {"x": (1,)}) == Parting(0, "", "x", (), (1,))
