"""The ways to tell a Transformer where a token stands."""

from __future__ import annotations

from typing import Any

from glassformer.layers.position.alibi import AlibiPositions
from glassformer.layers.position.learned import LearnedPositions
from glassformer.layers.position.none import NoPositions
from glassformer.layers.position.relative import RelativePositions
from glassformer.layers.position.rotary import RotaryPositions, Rotation, ShadowRotation, rotate
from glassformer.layers.position.sinusoidal import SinusoidalPositions, sinusoid

POSITIONS: dict[str, Any] = {
    "sinusoidal": SinusoidalPositions,
    "learned": LearnedPositions,
    "rotary": RotaryPositions,
    "alibi": AlibiPositions,
    "relative": RelativePositions,
    "none": NoPositions,
}

__all__ = [
    "POSITIONS",
    "AlibiPositions",
    "LearnedPositions",
    "NoPositions",
    "RelativePositions",
    "RotaryPositions",
    "Rotation",
    "ShadowRotation",
    "SinusoidalPositions",
    "rotate",
    "sinusoid",
]
