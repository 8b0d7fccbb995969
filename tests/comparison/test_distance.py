from __future__ import annotations

import math

import pytest
import torch

from glassformer.comparison.distance import distance


def test_an_example_by_hand() -> None:
    found = distance(torch.tensor([[3.0, 4.0], [0.0, 0.0]]), torch.tensor([[3.0, 0.0], [0.0, 12.0]]))
    assert found.relative == pytest.approx(math.sqrt(16 + 144) / math.sqrt(153))
    assert found.cosine == pytest.approx(9 / (5 * math.sqrt(153)))
    assert found.by_row == (pytest.approx(0.8), 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_torch_computes(seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    a, b = (torch.randn(5, 7, generator=random) for _ in range(2))
    found = distance(a, b)
    assert found.cosine == pytest.approx(torch.cosine_similarity(a.flatten(), b.flatten(), 0).item(), abs=1e-6)
    apart = torch.nn.functional.pairwise_distance(a, b, eps=0) / torch.stack([a, b]).norm(dim=-1).amax(0)
    assert found.by_row == pytest.approx(apart.tolist(), rel=1e-5)
    assert found == distance(b, a)
    assert found.relative is not None and 0 < found.relative < 2


def test_the_same_and_the_opposite() -> None:
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    same, opposite = distance(x, x.clone()), distance(x, -x)
    assert (same.relative, same.cosine, set(same.by_row)) == (0.0, pytest.approx(1.0), {0.0})
    assert (opposite.relative, opposite.cosine) == (pytest.approx(2.0), pytest.approx(-1.0))
    assert same.cosine <= 1.0


def test_a_tiny_difference_of_large_numbers_is_not_lost() -> None:
    x = torch.full((2, 3), 1e4)
    moved = x.clone()
    moved[1, 2] = torch.nextafter(moved[1, 2], torch.tensor(math.inf))
    found = distance(x, moved)
    assert found.by_row[0] == 0.0 and found.by_row[1] is not None and found.by_row[1] > 0


def test_what_is_undefined_is_none_and_never_nan() -> None:
    zeros, ones = torch.zeros(2, 3), torch.ones(2, 3)
    assert distance(zeros, zeros).to_json() == {"relative": 0.0, "cosine": None, "by_row": (0.0, 0.0)}
    assert distance(zeros, ones).to_json() == {"relative": 1.0, "cosine": None, "by_row": (1.0, 1.0)}
    broken = ones.clone()
    broken[0, 0] = math.inf
    assert distance(broken, ones).to_json() == {"relative": None, "cosine": None, "by_row": (None, 0.0)}
