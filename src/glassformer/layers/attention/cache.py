"""The KV cache: keys and values already computed, passed to a decoder so that each new token costs one step.

Nothing is hidden in the modules: whoever decodes holds the cache, passes it, and finds it grown after the call.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

SPARE = 32  # positions that are reserved ahead, so that most steps copy nothing


@dataclass
class KeyValues:
    """The keys and values of one attention; None before the first call."""

    k: Tensor | None = None  # b g s d_k
    v: Tensor | None = None  # b g s d_v
    fixed: bool = False  # the memory of an encoder: once there, it does not grow
    _space: tuple[Tensor, Tensor] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def complete(self) -> bool:
        return self.fixed and self.k is not None

    def whole(self) -> tuple[Tensor, Tensor]:
        assert self.k is not None and self.v is not None
        return self.k, self.v

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add the new ones behind the old ones and return all. What was returned before, and every copy, stays valid.

        Without gradients the new ones go into space reserved ahead: behind all that was ever returned.
        """
        if self.fixed or torch.is_grad_enabled():  # writing in place would break the backward pass
            if self.k is not None and self.v is not None:
                k, v = torch.cat([self.k, k], 2), torch.cat([self.v, v], 2)
            self.k, self.v = k, v
            return k, v
        start = 0 if self.k is None else self.k.shape[2]
        end = start + k.shape[2]
        if self._space is None or self._space[0].shape[2] < end:
            self._space = _reserve(k, end), _reserve(v, end)
            if self.k is not None and self.v is not None:
                self._space[0][:, :, :start], self._space[1][:, :, :start] = self.k, self.v
        for space, new in zip(self._space, (k, v), strict=True):
            space[:, :, start:end] = new
        self.k, self.v = (space[:, :, :end] for space in self._space)  # b g s d_k, b g s d_v
        return self.k, self.v

    def select(self, rows: Tensor) -> KeyValues:
        """The same for other rows of the batch: beams that go on, sentences that are not finished."""
        if self.k is None or self.v is None:
            return KeyValues(fixed=self.fixed)
        if self.fixed or torch.is_grad_enabled():
            return KeyValues(self.k.index_select(0, rows), self.v.index_select(0, rows), self.fixed)
        chosen, s = KeyValues(), self.k.shape[2]
        chosen._space = _reserve(self.k, s + 1, rows.shape[0]), _reserve(self.v, s + 1, rows.shape[0])
        for space, old in zip(chosen._space, (self.k, self.v), strict=True):
            torch.index_select(old, 0, rows, out=space[:, :, :s])
        chosen.k, chosen.v = (space[:, :, :s] for space in chosen._space)
        return chosen


def _reserve(like: Tensor, s: int, rows: int | None = None) -> Tensor:
    """Space for s positions, rounded up: b g s+ d."""
    b, g, _, d = like.shape
    return like.new_empty(b if rows is None else rows, g, -(-s // SPARE) * SPARE, d)


@dataclass
class LayerCache:
    """What one decoder block remembers: of its own past, and of the memory (computed once)."""

    past: KeyValues = field(default_factory=KeyValues)
    memory: KeyValues = field(default_factory=lambda: KeyValues(fixed=True))


@dataclass
class Cache:
    """What a decoder remembers, one entry a layer.

    `beams`: that many neighbouring rows of the batch are hypotheses of one sentence, and share its row of memory.
    """

    layers: list[LayerCache]
    beams: int = 1

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
        return Cache([LayerCache(replace(layer.past), replace(layer.memory)) for layer in self.layers], self.beams)

    def select(self, rows: Tensor) -> Cache:
        """A cache that goes on with these rows of the batch, each with its own row of memory."""
        memory = rows if self.beams == 1 else rows // self.beams
        return Cache([LayerCache(layer.past.select(rows), layer.memory.select(memory)) for layer in self.layers])

    def branch(self, rows: Tensor, sentences: Tensor | None, beams: int) -> Cache:
        """A cache for the beams that go on: `rows` of the past, `beams` for each of these `sentences` of the memory.

        The memory is never copied for a beam; None: all sentences go on, and it is not touched at all.
        """
        return Cache(
            [
                LayerCache(
                    layer.past.select(rows), layer.memory if sentences is None else layer.memory.select(sentences)
                )
                for layer in self.layers
            ],
            beams,
        )
