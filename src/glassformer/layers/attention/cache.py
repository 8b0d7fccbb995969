"""The KV cache: keys and values already computed, passed to a decoder so that each new token costs one step.

The modules hold no state: the caller owns the cache and passes it in, and each call appends to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

SPARE = 32  # steps: positions are reserved for a multiple of these, so that most of them copy nothing

KeyValue = tuple[Tensor, Tensor]


@dataclass
class KeyValues:
    """The keys and values of one attention; None before the first call."""

    k: Tensor | None = None  # b g s d_k
    v: Tensor | None = None  # b g s d_v
    fixed: bool = False  # the memory of an encoder: computed once, it never grows
    _space: KeyValue | None = field(default=None, init=False, repr=False, compare=False)  # the buffer behind k and v

    @property
    def complete(self) -> bool:
        return self.fixed and self.k is not None

    @property
    def length(self) -> int:
        """The number of positions before the next one."""
        return 0 if self.k is None else self.k.shape[2]

    def whole(self) -> KeyValue:
        assert self.k is not None and self.v is not None
        return self.k, self.v

    def append(self, k: Tensor, v: Tensor) -> KeyValue:
        """Append the new keys and values and return all of them. An earlier copy stays valid.

        Without gradients they are written into space reserved in advance, so the old ones are not copied.
        """
        if self.fixed and _may_write():  # read at every step: one head after another is faster
            k, v = k.contiguous(), v.contiguous()
        if self.fixed or not _may_write():
            if self.k is not None and self.v is not None:
                k, v = torch.cat([self.k, k], 2), torch.cat([self.v, v], 2)
            self.k, self.v, self._space = k, v, None
            return k, v
        start = 0 if self.k is None else self.k.shape[2]
        end = start + k.shape[2]
        if self._space is None or self._space[0].shape[2] < end or _is_closed(self._space):
            step = k.shape[2] if start else 1  # the first are a prompt; the others come in steps
            self._space = _reserve(k, end, SPARE * step), _reserve(v, end, SPARE * step)
            if self.k is not None and self.v is not None:
                self._space[0][:, :, :start], self._space[1][:, :, :start] = self.k, self.v
        self._space[0][:, :, start:end], self._space[1][:, :, start:end] = k, v
        self.k, self.v = self._space[0][:, :, :end], self._space[1][:, :, :end]  # b g s d_k, b g s d_v
        return self.k, self.v

    def select(self, rows: Tensor) -> KeyValues:
        """The same for other rows of the batch, in new tensors."""
        if self.k is None or self.v is None:
            return KeyValues(fixed=self.fixed)
        return KeyValues(self.k.index_select(0, rows), self.v.index_select(0, rows), self.fixed)

    def keep(self, rows: Tensor) -> None:
        """Continue with these rows of the batch."""
        chosen = self.select(rows)
        self.k, self.v, self._space = chosen.k, chosen.v, None

    def copy(self) -> KeyValues:
        """A copy with the same content. Neither of the two writes into memory that both share."""
        self._space = None
        return replace(self)


@dataclass
class SlottedKeyValues(KeyValues):
    """Keys and values in slots at fixed places: new ones go into the slots `at`, and a mask hides the empty ones."""

    at: Tensor = field(default_factory=lambda: torch.zeros(1, dtype=torch.long))  # t

    @property
    def length(self) -> int:
        return self.whole()[0].shape[2] - self.at.shape[0]

    def append(self, k: Tensor, v: Tensor) -> KeyValue:
        for slots, new in zip(self.whole(), (k, v), strict=True):
            slots.index_copy_(2, self.at, new)
        return self.whole()


def remembered(cache: KeyValues | None, compute: Callable[[], KeyValue]) -> KeyValue:
    """Keys and values of one attention: those in the cache, then the new ones. Those of a memory are computed once."""
    if cache is None:
        return compute()
    return cache.whole() if cache.complete else cache.append(*compute())


def _may_write() -> bool:
    """Whether writing in place is safe: it would break a backward pass or a compiled graph."""
    return not torch.is_grad_enabled() and not torch.compiler.is_compiling()


def _is_closed(space: KeyValue) -> bool:
    """Whether writing is forbidden: a tensor made in inference mode cannot be changed outside of it."""
    return space[0].is_inference() and not torch.is_inference_mode_enabled()


def _reserve(like: Tensor, s: int, spare: int) -> Tensor:
    """Space for s positions and half as many to come, rounded up: b g s+ d."""
    b, g, _, d = like.shape
    return like.new_empty(b, g, -(-s * 3 // 2 // spare) * spare, d)


@dataclass
class LayerCache:
    """The cache of one decoder block: of its own past, and of the memory (computed once)."""

    past: KeyValues = field(default_factory=KeyValues)
    memory: KeyValues = field(default_factory=lambda: KeyValues(fixed=True))

    @property
    def length(self) -> int:
        """The number of past positions in it."""
        return self.past.length


@dataclass
class Cache:
    """The cache of a decoder, one entry per layer."""

    layers: list[LayerCache]

    @classmethod
    def empty(cls, n_layers: int) -> Cache:
        return cls([LayerCache() for _ in range(n_layers)])

    @property
    def length(self) -> int:
        """The number of positions already in it."""
        return self.layers[0].length if self.layers else 0

    def copy(self) -> Cache:
        """A copy with the same content; appending to one leaves the other unchanged."""
        return Cache([LayerCache(layer.past.copy(), layer.memory.copy()) for layer in self.layers])

    def select(self, rows: Tensor) -> Cache:
        """A separate cache for these rows of the batch."""
        return Cache([LayerCache(layer.past.select(rows), layer.memory.select(rows)) for layer in self.layers])

    def keep(self, rows: Tensor) -> None:
        """Continue with these rows of the batch."""
        for layer in self.layers:
            layer.past.keep(rows)
            layer.memory.keep(rows)
