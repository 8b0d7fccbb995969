"""Rotary positions: queries and keys are rotated by their position; nothing is added to the stream."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.config.values import one_of, positive, size, truth
from glassformer.errors import ConfigError
from glassformer.layers.position.sinusoidal import check_waves

SCALINGS = ("none", "linear", "ntk", "dynamic", "yarn", "llama3")
WITHOUT_FLOAT64 = ("mps",)


@dataclass(frozen=True)
class Rotation:
    """The angles of one pass, as cosines and sines: computed once, used by every layer."""

    cos: Tensor  # t d_k/2, or b 1 t d_k/2 when rows of the batch have positions of their own
    sin: Tensor
    layout: str


def rotate(x: Float[Tensor, "b h t d_k"], rotation: Rotation) -> Float[Tensor, "b h t d_k"]:
    """Turn each pair of dimensions (a, b) to (a cos − b sin, b cos + a sin)."""
    cos, sin = rotation.cos.to(x.dtype), rotation.sin.to(x.dtype)
    if rotation.layout == "halves":
        a, b = x.chunk(2, -1)  # b h t d_k/2
        turned = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)  # b h t d_k
        return turned.contiguous()  # with d_k = 2, torch.cat would return another memory order
    a, b = x[..., 0::2], x[..., 1::2]  # b h t d_k/2
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)  # b h t d_k


def check_rotary(
    *,
    d_k: int,
    base: float,
    layout: str,
    scaling: str,
    factor: float,
    low_frequency_factor: float,
    high_frequency_factor: float,
    original_max_len: int,
    beta_fast: float,
    beta_slow: float,
    truncate: bool,
    attention_factor: float | None,
    mscale: float | None,
    mscale_all_dim: float | None,
) -> None:
    """d_k must be even, and each option must fit the `scaling` that it belongs to."""
    check_waves(base, layout)
    one_of("position.scaling", scaling, SCALINGS)
    if size("d_k", d_k) % 2:
        raise ConfigError("rotary_odd", d_k=d_k)
    # A dynamic base grows with the length even at factor 1.
    if (scaling == "none") != (positive("position.factor", factor) == 1.0) and (scaling, factor) != ("dynamic", 1.0):
        raise ConfigError("rotary_factor", scaling=scaling, factor=factor)
    size("position.original_max_len", original_max_len)
    low = positive("position.low_frequency_factor", low_frequency_factor)
    if positive("position.high_frequency_factor", high_frequency_factor) <= low:
        raise ConfigError("rotary_factors", low=low_frequency_factor, high=high_frequency_factor)
    if positive("position.beta_fast", beta_fast) <= positive("position.beta_slow", beta_slow):
        raise ConfigError("rotary_betas", fast=beta_fast, slow=beta_slow)
    truth("position.truncate", truncate)
    given = {"attention_factor": attention_factor, "mscale": mscale, "mscale_all_dim": mscale_all_dim}
    for option, value in given.items():
        if value is not None:
            positive(f"position.{option}", value)
    if (mscale is None) != (mscale_all_dim is None):
        raise ConfigError("rotary_mscale", given="mscale" if mscale_all_dim is None else "mscale_all_dim")
    if scaling == "yarn" and base <= 1.0:
        raise ConfigError("rotary_base", base=base)


def yarn_amplitude(factor: float, mscale: float | None, mscale_all_dim: float | None) -> float:
    """YaRN's factor on q and on k: longer contexts spread the softmax, so the scores grow with ln factor."""

    def grown(by: float) -> float:
        return 1.0 if factor <= 1.0 else 0.1 * by * math.log(factor) + 1.0

    return grown(1.0) if mscale is None or mscale_all_dim is None else grown(mscale) / grown(mscale_all_dim)


class RotaryPositions(nn.Module):
    r"""Rotary position embedding (Su et al. 2021).

        q_t → R(t·θ) q_t,   k_s → R(s·θ) k_s,   θ_i = base^(−2i / d_k)
        so that  q_tᵀ k_s  depends on the distance t − s alone

    Longer contexts than those trained on, by `scaling`:
        linear   θ_i / factor: positions are squeezed (Chen et al. 2023)
        ntk      base · factor^(d_k / (d_k − 2)): slow hands are slowed down, fast ones kept (bloc97 2023)
        dynamic  base · (1 + factor · (length / original_max_len − 1))^(d_k / (d_k − 2)), length = positions so far:
                 unchanged up to original_max_len, slower with every token beyond it (emozilla 2023)
        yarn     θ_i · (keep_i + (1 − keep_i) / factor), keep_i falling from 1 at the hand that turns beta_fast times
                 in original_max_len to 0 at the one that turns beta_slow times; q and k are multiplied by
                 0.1 ln factor + 1, or by attention_factor (Peng et al. 2023)
        llama3   only hands whose period is long compared with original_max_len are slowed (Llama 3.1)
    Nothing is registered: the angles are computed from the positions.
    Differs from the paper: it replaces the sum with the positional encoding.
    """

    acts_on = "queries and keys"

    def __init__(
        self,
        *,
        d_k: int,
        base: float = 10000.0,
        layout: str = "halves",
        scaling: str = "none",
        factor: float = 1.0,
        low_frequency_factor: float = 1.0,
        high_frequency_factor: float = 4.0,
        original_max_len: int = 8192,
        beta_fast: float = 32.0,
        beta_slow: float = 1.0,
        truncate: bool = True,
        attention_factor: float | None = None,
        mscale: float | None = None,
        mscale_all_dim: float | None = None,
    ) -> None:
        super().__init__()
        check_rotary(
            d_k=d_k,
            base=base,
            layout=layout,
            scaling=scaling,
            factor=factor,
            low_frequency_factor=low_frequency_factor,
            high_frequency_factor=high_frequency_factor,
            original_max_len=original_max_len,
            beta_fast=beta_fast,
            beta_slow=beta_slow,
            truncate=truncate,
            attention_factor=attention_factor,
            mscale=mscale,
            mscale_all_dim=mscale_all_dim,
        )
        self.d_k, self.base, self.layout = d_k, float(base), layout
        self.scaling, self.factor = scaling, float(factor)
        self.low, self.high, self.original_max_len = low_frequency_factor, high_frequency_factor, original_max_len
        self.beta_fast, self.beta_slow, self.truncate = beta_fast, beta_slow, truncate
        self.amplitude = 1.0
        if scaling == "yarn":
            self.amplitude = attention_factor or yarn_amplitude(factor, mscale, mscale_all_dim)

    def frequencies(self, device: torch.device, length: Tensor | int = 0) -> Float[Tensor, " d_k/2"]:
        """θ_i, the angle by which hand i turns from one position to the next, after scaling: always in float64.

        `length`, the number of positions so far, matters only for a dynamic base.
        """
        where = torch.device("cpu") if device.type in WITHOUT_FLOAT64 else device
        exponents = torch.arange(0, self.d_k, 2, dtype=torch.float64, device=where) / self.d_k
        if self.scaling == "ntk" and self.d_k > 2:
            return (self.base * self.factor ** (self.d_k / (self.d_k - 2))) ** -exponents
        if self.scaling == "dynamic" and self.d_k > 2:
            beyond = (torch.as_tensor(length).to(exponents) / self.original_max_len - 1).clamp(min=0)
            return (self.base * (1 + self.factor * beyond) ** (self.d_k / (self.d_k - 2))) ** -exponents
        theta = self.base**-exponents
        if self.scaling == "linear":
            return theta / self.factor
        if self.scaling == "llama3":
            turns = self.original_max_len * theta / (2 * math.pi)  # how often a hand turns in the original context
            keep = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)  # 0: slowed, 1: as it was
            return theta * (keep + (1 - keep) / self.factor)
        if self.scaling == "yarn":
            keep = self._kept(where)
            return theta * (keep + (1 - keep) / self.factor)
        return theta

    def _kept(self, device: torch.device) -> Float[Tensor, " d_k/2"]:
        """YaRN's ramp: 1 for hands that are kept, 0 for those that are slowed, a straight line between them."""

        def hand(turns: float) -> float:
            """The hand i that turns this often in the original context: original_max_len · θ_i = 2π · turns."""
            log = math.log(self.original_max_len) - math.log(turns) - math.log(2 * math.pi)
            return self.d_k * log / (2 * math.log(self.base))

        first, last = hand(self.beta_fast), hand(self.beta_slow)
        if self.truncate:
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, self.d_k - 1)
        last = first + 0.001 if first == last else last  # as published: a step instead of a ramp
        hands = torch.arange(self.d_k // 2, dtype=torch.float64, device=device)  # d_k/2
        return 1 - ((hands - first) / (last - first)).clamp(0, 1)

    def rotation(self, at: Int[Tensor, "*b t"], dtype: torch.dtype) -> Rotation:
        wide = torch.float32 if at.device.type in WITHOUT_FLOAT64 else torch.float64
        length = at.max() + 1 if self.scaling == "dynamic" else 0
        theta = self.frequencies(at.device, length).to(wide).to(at.device)  # d_k/2
        angles = at.to(wide)[..., None] * theta  # *b t d_k/2
        if at.dim() == 2:
            angles = angles[:, None]  # b 1 t d_k/2
        dtype = torch.float64 if dtype == torch.float64 else torch.float32
        cos, sin = angles.cos(), angles.sin()
        if self.amplitude != 1.0:
            cos, sin = cos * self.amplitude, sin * self.amplitude
        return Rotation(cos.to(dtype), sin.to(dtype), self.layout)

    def forward(self, x: Float[Tensor, "b h t d_k"], at: Tensor | None = None) -> Float[Tensor, "b h t d_k"]:
        at = torch.arange(x.shape[-2], device=x.device) if at is None else at
        return rotate(x, self.rotation(at, x.dtype))
