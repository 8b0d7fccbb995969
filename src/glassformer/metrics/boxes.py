"""Boxes (cx, cy, w, h) and how well they match: the overlap of two boxes, and which objects were found."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

ENOUGH = 0.5  # overlap from which on a box counts as found
SMALLEST = 1e-9  # the smallest area that is divided by


def corners(boxes: Float[Tensor, "... 4"]) -> Float[Tensor, "... 4"]:
    """cx, cy, w, h → left, top, right, bottom."""
    centre, half = boxes[..., :2], boxes[..., 2:] / 2
    return torch.cat([centre - half, centre + half], -1)


def overlap(a: Float[Tensor, "... 4"], b: Float[Tensor, "... 4"]) -> tuple[Tensor, Tensor]:
    r"""Intersection over union, and its generalisation (Rezatofighi et al. 2019), of boxes that broadcast.

        IoU = |A ∩ B| / |A ∪ B|          GIoU = IoU − |C \ (A ∪ B)| / |C|,   C: the smallest box around both

    IoU is 0 for all boxes that do not touch; GIoU falls towards −1 with their distance, so it gives a gradient.
    """
    a, b = corners(a), corners(b)
    shared = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp(min=0).prod(-1)
    around = (torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])).prod(-1)
    areas = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1)
    union = (areas - shared).clamp(min=SMALLEST)
    share = shared / union
    return share, share - 1 + union / around.clamp(min=SMALLEST)


class BoxMatches(NamedTuple):
    """Which answers are right, and which objects they found."""

    right: Tensor  # b q: this answer found an object that no answer of higher probability had found
    found: Tensor  # b m: this object was found


def match_boxes(
    sureness: Float[Tensor, "b q"],
    said: Int[Tensor, "b q"],
    boxes: Float[Tensor, "b q 4"],
    labels: Int[Tensor, "b m"],
    wanted: Float[Tensor, "b m 4"],
) -> BoxMatches:
    """The most probable answer first, each takes the free object of its class with the largest overlap, at least half.

    A negative class means no answer, or no object.
    """
    share, _ = overlap(boxes[:, :, None], wanted[:, None])  # b q m
    fits = (said[:, :, None] == labels[:, None]) & (labels >= 0)[:, None] & (share >= ENOUGH)  # b q m
    found, right = torch.zeros_like(labels, dtype=torch.bool), torch.zeros_like(said, dtype=torch.bool)
    rows = torch.arange(len(said), device=said.device)
    for query in sureness.argsort(dim=1, descending=True, stable=True).T:  # b
        free = fits[rows, query] & ~found  # b m
        best = torch.where(free, share[rows, query], -1.0).argmax(1)  # b
        hit: Bool[Tensor, " b"] = free.any(1)
        found[rows, best] |= hit
        right[rows, query] = hit
    return BoxMatches(right, found)
