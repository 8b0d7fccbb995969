"""What a block is given besides the stream: who may look at whom, positions, the encoder's output, and the cache."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from glassformer.layers.attention import LayerCache, Mask
from glassformer.layers.position import Rotation


@dataclass(frozen=True)
class PositionEffect:
    """What the positions of one pass give to attention: a rotation of q and k, or a bias on the scores."""

    rotation: Rotation | None = None
    bias: Tensor | None = None  # h t s


@dataclass(frozen=True)
class Memory:
    """The encoder's output, b s d_model, and which query may look at which part of it."""

    x: Tensor
    mask: Mask


NO_EFFECT = PositionEffect()


@dataclass(frozen=True)
class Context:
    """All of this for one block. Its attentions look through it, so that its sub-layers are the same with a cache."""

    mask: Mask
    memory: Memory | None
    positions: PositionEffect
    cache: LayerCache | None

    def look_at_self(self, attention: nn.Module, y: Tensor) -> Tensor:
        """Self-attention: y looks at itself, and with a cache at the positions before it as well."""
        past = None if self.cache is None else self.cache.past
        rotation, bias = self.positions.rotation, self.positions.bias
        looked: Tensor = attention(y, y, y, self.mask, rotation=rotation, bias=bias, cache=past)
        return looked

    def look_at_memory(self, attention: nn.Module | None, y: Tensor) -> Tensor:
        """Cross-attention: y looks at the encoder's output."""
        assert attention is not None and self.memory is not None
        known = None if self.cache is None else self.cache.memory
        looked: Tensor = attention(y, self.memory.x, self.memory.x, self.memory.mask, cache=known)
        return looked
