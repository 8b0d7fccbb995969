"""The KV cache: keys and values already computed, passed to a decoder so that each new token costs one step.

Nothing is hidden in the modules: whoever decodes holds the cache, passes it, and finds it grown after the call.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor


@dataclass
class KeyValues:
    """The keys and values of one attention; None before the first call."""

    k: Tensor | None = None  # b g s d_k
    v: Tensor | None = None  # b g s d_v
    fixed: bool = False  # the memory of an encoder: once there, it does not grow

    @property
    def complete(self) -> bool:
        return self.fixed and self.k is not None

    def whole(self) -> tuple[Tensor, Tensor]:
        assert self.k is not None and self.v is not None
        return self.k, self.v

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add the new ones behind the old ones and return all. New tensors are made: an earlier copy stays valid."""
        if self.k is not None and self.v is not None:
            k, v = torch.cat([self.k, k], 2), torch.cat([self.v, v], 2)
        self.k, self.v = k, v
        return k, v

    def select(self, rows: Tensor) -> KeyValues:
        """The same for other rows of the batch: beams that go on, sentences that are not finished."""
        if self.k is None or self.v is None:
            return KeyValues(fixed=self.fixed)
        return KeyValues(self.k[rows], self.v[rows], self.fixed)


@dataclass
class LayerCache:
    """What one decoder block remembers: of its own past, and of the memory (computed once)."""

    past: KeyValues = field(default_factory=KeyValues)
    memory: KeyValues = field(default_factory=lambda: KeyValues(fixed=True))


@dataclass
class Cache:
    """What a decoder remembers, one entry a layer."""

    layers: list[LayerCache]

    @classmethod
    def empty(cls, n_layers: int) -> Cache:
        return cls([LayerCache() for _ in range(n_layers)])

    @property
    def length(self) -> int:
        """How many positions are already in it."""
        k = self.layers[0].past.k if self.layers else None
        return 0 if k is None else k.shape[2]

    def copy(self) -> Cache:
        """Another cache with the same content; growing one leaves the other as it is."""
        return Cache([LayerCache(replace(layer.past), replace(layer.memory)) for layer in self.layers])

    def select(self, rows: Tensor) -> Cache:
        """A cache that goes on with these rows of the batch."""
        return Cache([LayerCache(layer.past.select(rows), layer.memory.select(rows)) for layer in self.layers])
