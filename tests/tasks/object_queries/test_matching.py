from __future__ import annotations

import sys
from itertools import permutations

import pytest
import torch

from glassformer.errors import ConfigError
from glassformer.losses import cross_entropy
from glassformer.tasks.object_queries.matching import SetLoss, assign

LOSS = SetLoss(criterion=cross_entropy, l1=5.0, giou=2.0)
BOXES = torch.tensor([[[0.25, 0.25, 0.5, 0.5], [0.75, 0.75, 0.5, 0.5]]])
LABELS = torch.tensor([[1, 0]])


def said(*classes: int, boxes: torch.Tensor) -> torch.Tensor:
    """Queries that are very sure of one of two classes or, 2, of nothing."""
    logits = 50.0 * torch.nn.functional.one_hot(torch.tensor([classes]), 3).float()
    return torch.cat([logits, boxes], -1)


def test_what_is_right_costs_nothing_in_any_order() -> None:
    far = torch.full((1, 1, 4), 0.5)
    for order in permutations(range(3)):
        y = said(1, 0, 2, boxes=torch.cat([BOXES, far], 1))[:, list(order)]
        loss = LOSS(y, LABELS, BOXES)
        assert float(loss.total) == pytest.approx(0.0, abs=1e-5) and int(loss.count) == 2


def test_the_loss_by_hand() -> None:
    shifted = BOXES + torch.tensor([0.125, 0.0, 0.0, 0.0])  # three quarters of 0.5 stay: IoU = GIoU = 0.375 / 0.625
    y = torch.cat([torch.zeros(1, 2, 3), shifted], -1)
    expected = 2 * (torch.log(torch.tensor(3.0)) + 5 * 0.125 + 2 * (1 - 0.375 / 0.625))
    torch.testing.assert_close(LOSS(y, LABELS, BOXES).total, expected)


def test_nothing_weighs_less_and_is_not_counted() -> None:
    light = SetLoss(criterion=lambda y, t: cross_entropy(y, t, weights=[1.0, 1.0, 0.1]), l1=5.0, giou=2.0)
    y = torch.cat([torch.zeros(1, 4, 3), BOXES.repeat(1, 2, 1)], -1)
    nothing = torch.full((1, 2), -1)
    for loss, weight in ((LOSS, 1.0), (light, 0.1)):
        found = loss(y, nothing, BOXES)
        assert float(found.total) == pytest.approx(4 * weight * 1.0986, rel=1e-3) and int(found.count) == 0


def test_the_assignment_is_the_cheapest_of_all() -> None:
    torch.manual_seed(0)
    costs, real = torch.rand(20, 5, 3), torch.ones(20, 3, dtype=torch.bool)
    real[::2, 2] = False
    pairs = assign(costs, real)
    for row, cost in enumerate(costs):
        count = int(real[row].sum())
        ours = pairs[pairs[:, 0] == row]
        assert sorted(ours[:, 2].tolist()) == list(range(count))
        cheapest = min(sum(cost[q, i] for i, q in enumerate(chosen)) for chosen in permutations(range(5), count))
        torch.testing.assert_close(cost[ours[:, 1], ours[:, 2]].sum(), cheapest)


def test_no_gradient_goes_through_the_matching() -> None:
    y = said(1, 0, boxes=BOXES + 0.05).requires_grad_()
    assert not LOSS.match(y, LABELS, BOXES).queries.requires_grad
    LOSS(y, LABELS, BOXES).total.backward()
    assert y.grad is not None and bool(torch.isfinite(y.grad).all()) and y.grad[..., 3:].abs().sum() > 0


def test_numbers_that_are_none_are_matched_somehow_and_said_by_the_loss() -> None:
    loss = LOSS(said(1, 0, boxes=BOXES) * torch.nan, LABELS, BOXES)
    assert torch.isnan(loss.total)


def test_without_its_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ConfigError, match=r"=object_queries needs a package .* pip install 'glassformer\[images\]'"):
        assign(torch.zeros(1, 2, 2), torch.ones(1, 2, dtype=torch.bool))
