from __future__ import annotations

import pytest
import torch

from glassformer.decoding.top import GROUP, largest


@pytest.mark.parametrize("v", [1, 7, GROUP, 1000, 1024, 8000])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_the_same_as_a_sort_of_the_whole_row(v: int, k: int) -> None:
    k = min(k, v)
    x = torch.randn(9, v, generator=torch.Generator().manual_seed(v))
    values, at = largest(x, k)
    expected = x.sort(1, descending=True)
    assert torch.equal(values, expected.values[:, :k])
    assert torch.equal(at, expected.indices[:, :k])


def test_the_largest_may_all_stand_in_one_group_or_behind_the_last() -> None:
    x = torch.zeros(1, 1003)
    groups = 1003 // GROUP
    x[0, torch.arange(4) * groups + 5] = torch.tensor([4.0, 3.0, 2.0, 1.0])
    assert largest(x, 4)[1].tolist() == [[5, groups + 5, 2 * groups + 5, 3 * groups + 5]]
    x[0, -1] = 9.0
    assert largest(x, 1)[1].tolist() == [[1002]]


def test_what_is_forbidden_is_never_among_them() -> None:
    x = torch.full((2, 2000), float("-inf"))
    x[0, 17], x[1, 1999] = 1.0, 2.0
    values, at = largest(x, 2)
    assert at[:, 0].tolist() == [17, 1999]
    assert values[:, 1].tolist() == [float("-inf")] * 2


def test_equal_numbers_give_as_many_different_places() -> None:
    values, at = largest(torch.ones(1, 4000), 5)
    assert values.tolist() == [[1.0] * 5]
    assert len(set(at[0].tolist())) == 5
