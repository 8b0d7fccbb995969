"""No head: the model returns the stream itself."""

from __future__ import annotations

from torch import Tensor, nn


class NoHead(nn.Module):
    """The stream itself, b t d_model."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: Tensor, mask: Tensor | None = None, embedding: Tensor | None = None) -> Tensor:
        return x
