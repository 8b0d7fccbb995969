"""Sinusoidal positions, the "Positional Encoding" of Figure 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.config.values import one_of, positive, size
from glassformer.errors import InputError
from glassformer.tap import tap


def encodings_at(
    table: Float[Tensor, "max_len d_model"],
    x: Float[Tensor, "b t d_model"],
    at: Int[Tensor, "*b t"] | None,
    longest: int | None = None,
) -> Float[Tensor, "*b t d_model"]:
    """The encodings of the positions `at` (0 … t-1 when not given). A text longer than the table is refused.

    `longest`: the length of the longest text, where a row holds several.
    """
    t, max_len = x.shape[-2], table.shape[0]
    length = t if longest is None else longest
    if length > max_len:
        raise InputError("too_long", length=length, max_len=max_len)
    if at is None:
        return table[:t]  # t d_model
    if at.device.type == "cpu" and not torch.compiler.is_compiling() and at.numel() and int(at.max()) >= max_len:
        raise InputError("too_long", length=int(at.max()) + 1, max_len=max_len)
    return table[at]  # *b t d_model


LAYOUTS = ("interleaved", "halves")


def check_waves(base: float, layout: str) -> None:
    positive("position.base", base)
    one_of("position.layout", layout, LAYOUTS)


def sinusoid(
    at: Int[Tensor, "*positions"],
    d_model: int,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    dtype: torch.dtype | None = None,
) -> Float[Tensor, "*positions d_model"]:
    """The waves of §3.5 at any positions: see `SinusoidalPositions` for the formula.

    They are computed in float64, and on the CPU: not every accelerator has float64.
    """
    pairs = torch.arange(0, d_model, 2, dtype=torch.float64, device="cpu")  # 2i
    angles = at.cpu().double()[..., None] / float(base) ** (pairs / d_model)  # *positions ⌈d_model/2⌉
    sin, cos = angles.sin(), angles.cos()[..., : d_model // 2]  # an odd d_model has one more sine
    waves = torch.cat([sin, cos], -1)  # *positions d_model
    if layout == "interleaved":
        order = torch.arange(d_model, device="cpu")
        waves = waves[..., order // 2 + (order % 2) * sin.shape[-1]]
    return waves.to(dtype or torch.get_default_dtype()).to(at.device)


class SinusoidalPositions(nn.Module):
    r"""Sinusoidal positional encoding, §3.5.

        PE(pos, 2i)   = sin(pos / 10000^(2i / d_model))
        PE(pos, 2i+1) = cos(pos / 10000^(2i / d_model))

    Each pair of dimensions is the hand of a clock: the first turn fast, the last slowly. Moving on by k positions
    turns every hand by a fixed angle, so PE(pos + k) is a linear function of PE(pos), whatever pos is.
    Nothing is trained: the table of max_len × d_model numbers is a buffer.
    Differs from the paper: nothing; `layout="halves"` puts all sines before all cosines, as Marian does.
    """

    acts_on = "stream"

    def __init__(
        self, *, d_model: int, max_len: int = 5000, base: float = 10000.0, layout: str = "interleaved"
    ) -> None:
        super().__init__()
        check_waves(base, layout)
        self.base, self.layout = base, layout
        table = torch.empty(size("max_len", max_len), size("d_model", d_model))
        self.register_buffer("table", table, persistent=False)
        self.table: Tensor
        self._fill()

    def _fill(self) -> None:
        """Fill the table from the formula; it is never read from a checkpoint. On `meta` there is nothing to fill."""
        if not self.table.is_meta:
            at = torch.arange(self.table.shape[0], device="cpu")
            waves = sinusoid(at, self.table.shape[1], base=self.base, layout=self.layout, dtype=self.table.dtype)
            self.table = waves.to(self.table.device)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Called for every move of the module (to, double, to_empty …): refilled, so that a wider type is exact too."""
        super()._apply(fn, recurse)
        self._fill()
        return self

    @property
    def max_len(self) -> int:
        return self.table.shape[0]

    def forward(
        self, x: Float[Tensor, "b t d_model"], at: Tensor | None = None, longest: int | None = None
    ) -> Float[Tensor, "b t d_model"]:
        return x + tap("encoding", encodings_at(self.table, x, at, longest).to(x.dtype))
