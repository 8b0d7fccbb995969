"""Who may look at whom, the "Mask (opt.)" of Figure 2. True = may look, everywhere in Glassformer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glassformer.config.values import size
from glassformer.errors import ConfigError, InputError
from glassformer.layers.position.relative import distances


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
    """`window_from`, the first layer with a window, makes sense only together with `window`."""
    if size("window_from", window_from, low=0) and window is None:
        raise ConfigError("window_from", value=window_from)


def prefix(given: Bool[Tensor, "b s"], t: int) -> Bool[Tensor, "b t s"]:
    """Prefix mask (Raffel et al. 2020): all positions see the given tokens, and only the past of the others."""
    return causal(t, given.shape[1], given.device) | given[:, None, :]  # b t s


def same_document(documents: Int[Tensor, "b t"]) -> Bool[Tensor, "b t s"]:
    """Packed rows: several documents share a row, and no token sees another document. With `causal`: triangles."""
    return documents[:, :, None] == documents[:, None, :]  # b t s


@dataclass(frozen=True)
class Packing:
    """Texts one after another in a row, with nothing between them: text i is at starts[i] … starts[i + 1] − 1."""

    starts: Int[Tensor, " n+1"]  # int32; the last is the length of the row
    longest: int  # no text is longer

    def numbers(self, t: int) -> Int[Tensor, "1 t"]:
        """Which text each token of the row belongs to."""
        at = torch.arange(t, device=self.starts.device)  # t
        return torch.searchsorted(self.starts[1:].long(), at, right=True)[None]

    def places(self, t: int) -> Int[Tensor, "1 t"]:
        """The position of each token in its text."""
        return torch.arange(t, device=self.starts.device) - self.starts[self.numbers(t)]


@dataclass(frozen=True)
class Branches:
    """Several ways to go on with one text, side by side in its row, as the beams of a search.

    Each new token stands at the same position as its neighbours, and sees the past of its own way only. So none of the
    keys and values that they share is copied, and a way that is given up costs nothing.
    """

    seen: Bool[Tensor, "b t s"]  # the past of each new token, and itself
    at: Int[Tensor, "b t"]  # positions of the new tokens
    distance: Int[Tensor, "t s"] | None = None  # of each key from each new token; None where nobody asks


def combine(*masks: Tensor | None) -> Tensor | None:
    """True where every mask is True; None allows everything."""
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
    prefix: Tensor | None = None  # b s: the keys that every query sees, whatever the look-ahead mask says
    allowed: Tensor | None = None  # anything else, broadcast to b h t s; padding is b 1 1 s
    packing: tuple[Packing, Packing] | None = None  # of queries and keys: a text looks only at the text of its number
    distance: Tensor | None = None  # t s: of the keys from the queries; None: these are the last t of s positions

    @property
    def is_plain(self) -> bool:
        """No rule besides `causal` and `packing`, which fused kernels know."""
        return self.window is None and self.prefix is None and self.allowed is None

    @property
    def is_plainly_causal(self) -> bool:
        return self.causal and self.is_plain and self.packing is None

    def is_resolved(self, t: int) -> bool:
        """Whether `allowed` says all there is to say for t queries; a single one is the last position."""
        return (not self.causal or t == 1) and self.window is None and self.prefix is None and self.packing is None

    @cached_property
    def blocked_rows(self) -> bool:
        """Whether a query may look at nothing."""
        return self.allowed is not None and not bool(self.allowed.any(-1).all())

    @cached_property
    def added(self) -> Float[Tensor, "..."] | None:
        """`allowed` as numbers to add to the scores, 0 or −∞, made once for all layers that share the mask."""
        if self.allowed is None:
            return None
        return torch.zeros(self.allowed.shape, device=self.allowed.device).masked_fill_(~self.allowed, float("-inf"))

    def dense(self, t: int, s: int, device: torch.device) -> Bool[Tensor, "..."] | None:
        """All rules as one tensor that broadcasts to b h t s; None when every query sees every key."""
        rules: list[Tensor | None] = [self.allowed]
        if self.packing is not None:
            queries, keys = self.packing
            rules.append((queries.numbers(t)[:, :, None] == keys.numbers(s)[:, None, :])[:, None])  # 1 1 t s
        if self.prefix is not None:
            rules.append(prefix(self.prefix, t)[:, None])  # b 1 t s
        elif self.causal and t > 1:  # a single query is the last position: it sees all
            rules.append(causal(t, s, device))  # t s
        if self.window is not None:
            apart = distances(t, s, device) if self.distance is None else self.distance
            rules.append(apart.abs() < self.window)  # t s
        return combine(*rules)

    def resolved(self, t: int, s: int, device: torch.device) -> Mask:
        """The same rules, computed once for all layers of a stack."""
        return (
            self
            if self.is_plainly_causal or (self.packing is not None and self.is_plain)
            else Mask(allowed=self.dense(t, s, device))
        )


def as_allowed(mask: Tensor | None, real: Tensor | None, b: int, t: int, s: int) -> Tensor | None:
    """`mask` and `real` as one tensor that broadcasts to b h t s.

    `mask`: who may look at whom, t s (one for all rows, as in PyTorch), b t s or b h t s. `real`: which keys are
    tokens and not padding, b s. Two keywords, because a square b s and a t s cannot be told apart by their sizes.
    """
    if real is not None:
        _check_booleans("real", real)
        if real.dim() != 2 or real.shape[0] not in (1, b) or real.shape[1] != s:
            raise InputError("real_shape", shape=tuple(real.shape), batch=b, keys=s)
        real = real[:, None, None, :]  # b 1 1 s
    if mask is not None:
        _check_booleans("mask", mask)
        rows = mask.shape[0] if mask.dim() > 2 else 1
        fits = mask.dim() in (2, 3, 4) and rows in (1, b) and mask.shape[-2] in (1, t) and mask.shape[-1] == s
        if not fits:
            raise InputError("mask_shape", shape=tuple(mask.shape), batch=b, queries=t, keys=s)
        mask = mask[:, None] if mask.dim() == 3 else mask  # b 1 t s
    return combine(mask, real)


def _check_booleans(name: str, given: Tensor) -> None:
    if not isinstance(given, Tensor) or given.dtype != torch.bool:
        kind = str(given.dtype).removeprefix("torch.") if isinstance(given, Tensor) else type(given).__name__
        raise InputError("mask_dtype", name=name, dtype=kind)
