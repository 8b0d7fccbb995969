"""What each position has found, and where: a class or nothing, and a box."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.kernels.linear import Linear
from glassformer.tap import tap

SIDES = 4  # of a box: x and y of its centre, width, height


class ObjectOutput(NamedTuple):
    """The two halves of the output of an object head."""

    logits: Tensor  # … classes+1; the last is "nothing"
    boxes: Tensor  # … 4: cx, cy, w, h, each from 0 to 1


class ObjectsHead(nn.Module):
    r"""An object for every position, or none (Carion et al. 2020).

        logits = x W + b                                   classes, and "nothing" after them
        box    = σ(max(0, x W_1 + b_1) W_2 + b_2)          cx, cy, w, h as shares of the whole image

    Both are in one tensor, b t classes+1+4; `ObjectsHead.split` separates them.
    Differs from the paper: the paper has none. DETR has one more layer before the box.
    """

    def __init__(self, *, d_model: int, classes: int) -> None:
        super().__init__()
        self.output = Linear(d_model, classes + 1)
        self.box_hidden = Linear(d_model, d_model)
        self.box = Linear(d_model, SIDES)

    def forward(
        self, x: Float[Tensor, "b t d"], mask: Bool[Tensor, "b t"] | None = None, embedding: Tensor | None = None
    ) -> Float[Tensor, "b t classes+5"]:
        logits = tap("logits", self.output(x))  # b t classes+1
        boxes = tap("boxes", torch.sigmoid(self.box(F.relu(self.box_hidden(x)))))  # b t 4
        return torch.cat([logits, boxes], -1)  # b t classes+5

    @staticmethod
    def split(y: Float[Tensor, "... n"]) -> ObjectOutput:
        return ObjectOutput(y[..., :-SIDES], y[..., -SIDES:])
