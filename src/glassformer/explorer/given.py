"""What one request gives a model: tensors to run, the pieces that label rows and columns, and what the page shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from glassformer.explorer.pieces import Piece

RunPass = Callable[[nn.Module, tuple[Tensor, ...]], Tensor]


def whole_pass(model: nn.Module, inputs: tuple[Tensor, ...]) -> Tensor:
    return model(*inputs)


@dataclass(frozen=True)
class ReadInput:
    """The input of one pass. `run` calls the model on `inputs`; `shown` tells the page what was read.

    `source` labels the positions that the first stack reads, `target` those of a decoder with an encoder.
    """

    inputs: tuple[Tensor, ...]
    source: list[Piece]
    target: list[Piece] | None = None
    run: RunPass = whole_pass
    shown: Mapping[str, Any] = field(default_factory=dict)
    tensors: Mapping[str, Tensor] = field(default_factory=dict)  # sent along: pixels, values
    masked: tuple[int, ...] = ()  # places of the gaps
    restore: Callable[[Tensor], list[float]] | None = None  # of a forecast: scaled → original units
