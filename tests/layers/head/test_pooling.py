from __future__ import annotations

import pytest
import torch

from glassformer.layers.head import pool

X = torch.tensor([[[1.0, -1.0], [2.0, -5.0], [6.0, -3.0]], [[4.0, 0.0], [8.0, 2.0], [0.0, 1.0]]])  # b=2 t=3 d=2
RIGHT = torch.tensor([[True, True, False], [True, True, True]])
LEFT = torch.tensor([[False, True, True], [True, True, True]])


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("cls", [[1.0, -1.0], [4.0, 0.0]]),
        ("sep", [[6.0, -3.0], [0.0, 1.0]]),
        ("mean", [[3.0, -3.0], [4.0, 1.0]]),
        ("max", [[6.0, -1.0], [8.0, 2.0]]),
        ("flatten", [[1.0, -1.0, 2.0, -5.0, 6.0, -3.0], [4.0, 0.0, 8.0, 2.0, 0.0, 1.0]]),
    ],
)
def test_pooling_by_hand(how: str, expected: list[list[float]]) -> None:
    assert pool(X, how).tolist() == expected


@pytest.mark.parametrize(
    ("how", "expected"),
    [("cls", [1.0, -1.0]), ("sep", [2.0, -5.0]), ("mean", [1.5, -3.0]), ("max", [2.0, -1.0])],
)
def test_pooling_with_padding_behind_by_hand(how: str, expected: list[float]) -> None:
    pooled = pool(X, how, RIGHT)
    assert pooled[0].tolist() == expected
    assert torch.equal(pooled[1], pool(X, how)[1])


@pytest.mark.parametrize(
    ("how", "expected"),
    [("cls", [2.0, -5.0]), ("sep", [6.0, -3.0]), ("mean", [4.0, -4.0]), ("max", [6.0, -3.0])],
)
def test_pooling_with_padding_in_front_by_hand(how: str, expected: list[float]) -> None:
    pooled = pool(X, how, LEFT)
    assert pooled[0].tolist() == expected
    assert torch.equal(pooled[1], pool(X, how)[1])


@pytest.mark.parametrize("how", ["cls", "sep", "mean", "max"])
@pytest.mark.parametrize("mask", [LEFT, RIGHT], ids=["left", "right"])
def test_what_stands_under_padding_does_not_matter(how: str, mask: torch.Tensor) -> None:
    changed = X.masked_fill(~mask[..., None], 999.0)
    assert torch.equal(pool(changed, how, mask), pool(X, how, mask))


@pytest.mark.parametrize("how", ["cls", "sep", "mean", "max"])
def test_a_full_mask_is_no_mask(how: str) -> None:
    torch.testing.assert_close(pool(X, how, torch.ones(2, 3, dtype=torch.bool)), pool(X, how))


def test_each_position_can_stay_by_itself() -> None:
    assert pool(X, "each", RIGHT) is X
