"""Learned positions: one trained vector for every place in the sentence."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config.values import size
from glassformer.errors import InputError
from glassformer.layers.position.sinusoidal import encodings_at
from glassformer.tap import tap


def interpolate(
    weight: Float[Tensor, "rows d_model"], class_tokens: int, old_grid: tuple[int, int], new_grid: tuple[int, int]
) -> Float[Tensor, "new_rows d_model"]:
    """The table of an image's patches for another size of image (Dosovitskiy et al. 2021, §3.2).

    The rows of the patches are a picture of d_model channels, rows × columns; it is resized by cubic splines. The class
    tokens in front are not part of the picture and stay unchanged.
    """
    rows, columns = old_grid
    if weight.shape[0] != class_tokens + rows * columns:
        raise InputError("grid_rows", rows=weight.shape[0], grid=f"{rows}×{columns}", class_tokens=class_tokens)
    if old_grid == new_grid:
        return weight
    picture = weight[class_tokens:].unflatten(0, old_grid).permute(2, 0, 1)[None]  # 1 d_model rows columns
    resized = F.interpolate(picture, size=new_grid, mode="bicubic", align_corners=False)
    return torch.cat([weight[:class_tokens], resized[0].flatten(1).T])  # class_tokens+new d_model


class LearnedPositions(nn.Module):
    r"""Learned positional embedding, §3.5 and row (E) of Table 3.

        x_t + P[t]

    The paper found it as good as the sinusoids; BERT, GPT-2 and ViT use it. It has no position beyond its table.
    `offset` rows at the start are never used: BART keeps two.
    Differs from the paper: nothing.
    """

    acts_on = "stream"

    def __init__(self, *, d_model: int, max_len: int, offset: int = 0) -> None:
        super().__init__()
        self.offset = size("position.offset", offset, low=0)
        self.weight = nn.Parameter(torch.empty(max_len + offset, d_model).normal_(std=0.02))

    @property
    def max_len(self) -> int:
        return self.weight.shape[0] - self.offset

    def forward(
        self, x: Float[Tensor, "b t d_model"], at: Tensor | None = None, longest: int | None = None
    ) -> Float[Tensor, "b t d_model"]:
        return x + tap("encoding", encodings_at(self.weight[self.offset :], x, at, longest))
