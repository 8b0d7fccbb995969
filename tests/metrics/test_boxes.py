from __future__ import annotations

import pytest
import torch

from glassformer.metrics.boxes import corners, match_boxes, overlap

WHOLE = torch.tensor([0.5, 0.5, 1.0, 1.0])


def test_corners_by_hand() -> None:
    assert corners(torch.tensor([2.0, 3.0, 2.0, 4.0])).tolist() == [1.0, 1.0, 3.0, 5.0]


@pytest.mark.parametrize(
    ("box", "share", "generalised"),
    [
        ([0.5, 0.5, 1.0, 1.0], 1.0, 1.0),
        ([0.5, 0.25, 1.0, 0.5], 0.5, 0.5),  # the upper half: the smallest box around both is the whole
        ([1.0, 0.5, 1.0, 1.0], 0.5 / 1.5, 0.5 / 1.5),  # moved by half
        ([2.5, 0.5, 1.0, 1.0], 0.0, -1 / 3),  # a gap of one: 1 of 3 is neither's
        ([0.5, 0.5, 0.0, 0.0], 0.0, 0.0),  # a point inside
    ],
)
def test_overlap_by_hand(box: list[float], share: float, generalised: float) -> None:
    found = overlap(WHOLE, torch.tensor(box))
    assert [float(one) for one in found] == pytest.approx([share, generalised])
    assert [float(one) for one in overlap(torch.tensor(box), WHOLE)] == pytest.approx([share, generalised])


def test_boxes_that_do_not_touch_are_drawn_to_each_other() -> None:
    box = torch.tensor([2.5, 0.5, 1.0, 1.0], requires_grad=True)
    share, generalised = overlap(WHOLE, box)
    (slope,) = torch.autograd.grad(generalised, box)
    assert share == 0 and slope[0] < 0


def test_two_points_divide_by_nothing() -> None:
    point = torch.tensor([0.5, 0.5, 0.0, 0.0], requires_grad=True)
    _, generalised = overlap(point, point.detach())
    generalised.backward()
    assert torch.isfinite(generalised) and point.grad is not None and bool(torch.isfinite(point.grad).all())


def test_each_object_is_found_once_by_the_surest() -> None:
    here, there = [0.25, 0.25, 0.5, 0.5], [0.75, 0.75, 0.5, 0.5]
    claims = match_boxes(
        torch.tensor([[0.5, 0.9, 0.8, 0.99]]),
        torch.tensor([[7, 7, 3, -1]]),
        torch.tensor([[here, here, there, there]]),
        torch.tensor([[7, 3, -1]]),
        torch.tensor([[here, there, [0.0] * 4]]),
    )
    assert claims.right.tolist() == [[False, True, True, False]]
    assert claims.found.tolist() == [[True, True, False]]


@pytest.mark.parametrize(("said", "shift"), [(4, 0.0), (7, 0.2)])
def test_a_wrong_class_or_a_box_that_fits_badly_finds_nothing(said: int, shift: float) -> None:
    here = torch.tensor([[[0.25, 0.25, 0.5, 0.5]]])
    claims = match_boxes(torch.ones(1, 1), torch.tensor([[said]]), here + shift, torch.tensor([[7]]), here)
    assert not claims.right.any() and not claims.found.any()


def test_two_equal_digits_are_two() -> None:
    boxes = torch.tensor([[[0.25, 0.25, 0.5, 0.5], [0.75, 0.75, 0.5, 0.5]]])
    labels = torch.tensor([[7, 7]])
    assert match_boxes(torch.tensor([[0.9, 0.8]]), labels, boxes.flip(1), labels, boxes).found.all()
    once = match_boxes(torch.tensor([[0.9, 0.8]]), labels, boxes[:, [0, 0]], labels, boxes)
    assert (once.right.tolist(), once.found.tolist()) == ([[True, False]], [[True, False]])
