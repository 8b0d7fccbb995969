"""Sinusoidal positions, the "Positional Encoding" of Figure 1."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.account import Row, held
from glassformer.layers.position.table import look_up
from glassformer.tap import tap
from glassformer.tape import Shadow, Tape


def sinusoid(
    at: Int[Tensor, "*positions"], d_model: int, *, base: float = 10000.0, layout: str = "interleaved"
) -> Float[Tensor, "*positions d_model"]:
    """The waves of §3.5 at any positions, computed in float64: see `SinusoidalPositions` for the formula."""
    pairs = torch.arange(0, d_model, 2, dtype=torch.float64, device=at.device)  # 2i
    angles = at.double()[..., None] / float(base) ** (pairs / d_model)  # *positions ⌈d_model/2⌉
    sin, cos = angles.sin(), angles.cos()[..., : d_model // 2]  # an odd d_model has one sine more
    waves = torch.cat([sin, cos], -1)  # *positions d_model
    if layout == "interleaved":
        order = torch.arange(d_model, device=at.device)
        waves = waves[..., order // 2 + (order % 2) * sin.shape[-1]]
    return waves.to(torch.get_default_dtype())


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
        table = sinusoid(torch.arange(max_len), d_model, base=base, layout=layout)
        self.register_buffer("table", table, persistent=False)
        self.table: Tensor

    def forward(self, x: Float[Tensor, "b t d_model"], at: Tensor | None = None) -> Float[Tensor, "b t d_model"]:
        return x + tap("encoding", look_up(self.table, x, at).to(x.dtype))

    @staticmethod
    def shadow(tape: Tape, x: Shadow) -> Shadow:
        return tape.new(*x.shape, grad=x.grad)  # a sum with a buffer keeps nothing

    @staticmethod
    def account(
        *, d_model: int, max_len: int = 5000, base: float = 10000.0, layout: str = "interleaved"
    ) -> tuple[Row, ...]:
        table = held("table", "max_len", "d_model", buffer=True)
        return (Row("", "positions.sinusoidal", (table,), {"max_len": max_len, "d_model": d_model}),)
