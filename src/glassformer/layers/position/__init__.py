"""The ways to tell a Transformer the position of a token."""

from __future__ import annotations

from typing import Any

from torch import nn

from glassformer.layers.position.alibi import AlibiPositions
from glassformer.layers.position.learned import LearnedPositions
from glassformer.layers.position.none import NoPositions
from glassformer.layers.position.relative import RelativePositions
from glassformer.layers.position.rotary import RotaryPositions, Rotation, rotate
from glassformer.layers.position.sinusoidal import SinusoidalPositions, sinusoid

POSITIONS: dict[str, Any] = {
    "sinusoidal": SinusoidalPositions,
    "learned": LearnedPositions,
    "rotary": RotaryPositions,
    "alibi": AlibiPositions,
    "relative": RelativePositions,
    "none": NoPositions,
}

# kinds with a table of max_len rows and no position beyond it; the others compute positions without a limit
WITH_TABLE: dict[str, type[SinusoidalPositions] | type[LearnedPositions]] = {
    "sinusoidal": SinusoidalPositions,
    "learned": LearnedPositions,
}


def table_size(positions: nn.Module) -> int | None:
    """How many positions there are; None if they are computed, without a limit."""
    for kind in WITH_TABLE.values():
        if isinstance(positions, kind):
            return positions.max_len
    return None


__all__ = [
    "POSITIONS",
    "WITH_TABLE",
    "AlibiPositions",
    "LearnedPositions",
    "NoPositions",
    "RelativePositions",
    "RotaryPositions",
    "Rotation",
    "SinusoidalPositions",
    "rotate",
    "sinusoid",
    "table_size",
]
