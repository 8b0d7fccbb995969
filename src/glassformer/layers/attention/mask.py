"""Who may look at whom, the "Mask (opt.)" of Figure 2. True = may look, everywhere in Glassformer."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from glassformer.errors import ConfigError, InputError
from glassformer.layers.position.relative import distances
from glassformer.values import size


def padding(lengths: Int[Tensor, " b"], s: int) -> Bool[Tensor, "b s"]:
    """The first `lengths` tokens of each row are real, the rest is padding."""
    return torch.arange(s, device=lengths.device)[None, :] < lengths[:, None]  # b s


def causal(t: int, s: int | None = None, device: torch.device | None = None) -> Bool[Tensor, "t s"]:
    """Look-ahead mask, §3.2.3: position t looks at positions ≤ t. The queries are the last t of s positions."""
    return distances(t, t if s is None else s, device or torch.device("cpu")) <= 0  # t s


def sliding_window(t: int, s: int, window: int, device: torch.device | None = None) -> Bool[Tensor, "t s"]:
    """Look at most `window` − 1 positions to either side (Beltagy et al. 2020); with `causal`, Mistral's mask."""
    return distances(t, s, device or torch.device("cpu")).abs() < window  # t s


def check_window(window: int | None, window_from: int) -> None:
    """`window_from` says where the window begins: without one there is nothing to begin."""
    if size("window_from", window_from, low=0) and window is None:
        raise ConfigError("window_from", value=window_from)


def prefix(given: Bool[Tensor, "b s"], t: int) -> Bool[Tensor, "b t s"]:
    """Prefix mask (Raffel et al. 2020): everyone sees the tokens that are given; of the others one sees the past."""
    return causal(t, given.shape[1], given.device) | given[:, None, :]  # b t s


def combine(*masks: Tensor | None) -> Tensor | None:
    """May look if every mask lets it; None lets everything."""
    result: Tensor | None = None
    for mask in masks:
        if mask is not None:
            result = mask if result is None else result & mask
    return result


@dataclass(frozen=True)
class Mask:
    """The rules of one attention, kept apart so that a kernel can use the fast path of a plain look-ahead mask."""

    causal: bool = False
    window: int | None = None
    prefix: Tensor | None = None  # b s: the keys that everyone sees, whatever the look-ahead mask says
    allowed: Tensor | None = None  # anything else, broadcast to b h t s; padding is b 1 1 s

    @property
    def is_plainly_causal(self) -> bool:
        return self.causal and self.window is None and self.prefix is None and self.allowed is None

    def dense(self, t: int, s: int, device: torch.device) -> Bool[Tensor, "..."] | None:
        """All rules as one tensor that broadcasts to b h t s; None when everyone sees everything."""
        rules: list[Tensor | None] = [self.allowed]
        if self.prefix is not None:
            rules.append(prefix(self.prefix, t)[:, None])  # b 1 t s
        elif self.causal and t > 1:  # a single query is the last position: it sees all
            rules.append(causal(t, s, device))  # t s
        if self.window is not None:
            rules.append(sliding_window(t, s, self.window, device))  # t s
        return combine(*rules)

    def resolved(self, t: int, s: int, device: torch.device) -> Mask:
        """The same rules, computed once for all layers of a stack."""
        return self if self.is_plainly_causal else Mask(allowed=self.dense(t, s, device))


def as_allowed(mask: Tensor | None, b: int, t: int, s: int) -> Tensor | None:
    """Bring what a person passes, b s (padding), b t s or b h t s, to a shape that broadcasts to b h t s."""
    if mask is None:
        return None
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = str(mask.dtype).removeprefix("torch.") if isinstance(mask, Tensor) else type(mask).__name__
        raise InputError("mask_dtype", dtype=kind)
    queries = mask.shape[-2] if mask.dim() > 2 else 1
    fits = mask.dim() in (2, 3, 4) and mask.shape[0] in (1, b) and queries in (1, t) and mask.shape[-1] == s
    if not fits:
        raise InputError("mask_shape", shape=tuple(mask.shape), batch=b, queries=t, keys=s)
    match mask.dim():
        case 2:
            return mask[:, None, None, :]  # b 1 1 s
        case 3:
            return mask[:, None]  # b 1 t s
    return mask


def real_tokens(mask: Tensor | None, t: int | None = None) -> Tensor | None:
    """The last t columns of a padding mask b s; None where a mask says who looks at whom, not what is real."""
    if mask is None or mask.dim() != 2:
        return None
    return mask if t is None else mask[:, -t:]  # b t
