"""No positions at all: order is lost, or left to the look-ahead mask."""

from __future__ import annotations

from torch import nn


class NoPositions(nn.Module):
    """Adds nothing. A decoder can still learn order from its mask (Haviv et al. 2022); an encoder sees a bag."""

    acts_on = "nothing"

    def __init__(self) -> None:
        super().__init__()
