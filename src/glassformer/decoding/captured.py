"""Decoding on an accelerator: a step at fixed places in memory, recorded once as a CUDA graph and replayed.

One new token per sentence is little work and a thousand launches. So keys and values lie in slots, a mask says which
are filled, and every step runs the same kernels on the same addresses: only tokens, the order of beams and the
number of the slot change. Nothing else knows of it: a `State` at fixed places is stepped and reordered as any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from glassformer.layers.attention.cache import Cache, KeyValues, LayerCache, SlottedKeyValues
from glassformer.tap import observed

SLOTS = 32  # positions to begin with; doubled when they are full
ROWS = 16  # sentences are rounded up to a multiple of this, so that few graphs serve all batches
EAGER = 2  # steps before a graph is recorded: kernels are chosen and loaded

Step = Callable[..., Tensor]  # (tokens, memory, real, memory_real, cache=…) → logits, b 1 v


@dataclass(frozen=True)
class Sizes:
    """What a graph is recorded for."""

    sentences: int
    beams: int
    slots: int
    source: int  # positions of the memory; 0: none


class SlottedStep:
    """One step of a decoder whose cache lies in slots."""

    def __init__(self, step: Step, like: Cache, memory: Tensor | None, sizes: Sizes) -> None:
        first = like.layers[0].past.k
        assert first is not None
        device, rows = first.device, sizes.sentences * sizes.beams
        self.call, self.sizes = step, sizes
        self.at = torch.zeros(1, dtype=torch.long, device=device)
        self.filled = 0
        self.tokens = torch.zeros(rows, 1, dtype=torch.long, device=device)
        self.order = torch.arange(rows, device=device)
        self.real = torch.zeros(rows, sizes.slots, dtype=torch.bool, device=device)
        self.memory: Tensor | None = None
        self.memory_real: Tensor | None = None
        if memory is not None:
            self.memory = memory.new_zeros(sizes.sentences, *memory.shape[1:])
            self.memory_real = torch.ones(self.memory.shape[:2], dtype=torch.bool, device=device)
        self.past = first.new_zeros(2 * len(like.layers), rows, *first.shape[1:2], sizes.slots, first.shape[3])
        pasts = self.past.unflatten(0, (-1, 2)).unbind()  # of each layer: 2 b·w g s d
        both = zip(pasts, like.layers, strict=True)
        self.cache = Cache([self._slots(past, layer) for past, layer in both], sizes.beams)
        self.steps = 0
        self.graph: torch.cuda.CUDAGraph | None = None
        self.logits: Tensor | None = None

    def _slots(self, space: Tensor, layer: LayerCache) -> LayerCache:
        past = SlottedKeyValues(space[0], space[1], at=self.at)
        if not layer.memory.complete:
            return LayerCache(past)
        k, v = (_space(x, self.sizes.sentences, self.sizes.source) for x in layer.memory.whole())
        return LayerCache(past, KeyValues(k, v, fixed=True))

    def load(self, cache: Cache, real: Tensor | None, memory: Tensor | None, memory_real: Tensor | None) -> None:
        """Begin with what an ordinary cache holds."""
        rows, s = cache.layers[0].past.whole()[0].shape[0], cache.length
        for mine, theirs in zip(self.cache.layers, cache.layers, strict=True):
            for slots, x in zip(mine.past.whole(), theirs.past.whole(), strict=True):
                slots[:rows, :, :s] = x[:rows, :, :s]
            if theirs.memory.complete:
                for fixed, x in zip(mine.memory.whole(), theirs.memory.whole(), strict=True):
                    fixed[: x.shape[0], :, : x.shape[2]] = x
        self.real.zero_()
        self.real[:rows, :s] = True if real is None else real
        if self.memory is not None and self.memory_real is not None and memory is not None:
            n, length = memory.shape[:2]
            self.memory[:n, :length] = memory
            self.memory_real.zero_()
            self.memory_real[:n, :length] = True if memory_real is None else memory_real
            self.memory_real[n:, 0] = True  # an empty row looks somewhere
        self.at.fill_(s)
        self.filled, self.active = s, rows
        self._identity()

    def _identity(self) -> None:
        torch.arange(self.order.shape[0], out=self.order)

    @property
    def full(self) -> bool:
        return self.filled >= self.sizes.slots

    def reorder(self, rows: Tensor, sentences: Tensor | None, beams: int) -> None:
        """The next step begins by going on with these rows."""
        self.active = rows.shape[0]
        self.order[: self.active] = rows
        if sentences is not None:
            self._memory_follows(sentences)

    def _memory_follows(self, sentences: Tensor) -> None:
        n = sentences.shape[0]
        for layer in self.cache.layers:
            if layer.memory.complete:
                for x in layer.memory.whole():
                    x[:n] = x.index_select(0, sentences)
        for given in (self.memory, self.memory_real):
            if given is not None:
                given[:n] = given.index_select(0, sentences)

    def step(self, tokens: Tensor) -> Tensor:
        """The last tokens, n 1 → logits, n v."""
        self.tokens[: self.active] = tokens
        self.steps += 1
        if self.graph is not None:
            self.graph.replay()
        elif self.at.is_cuda and self.steps > EAGER:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.logits = self._compute()
            self.graph.replay()
        else:
            self.logits = self._compute()
        self.filled += 1
        self._identity()
        assert self.logits is not None
        return self.logits[: self.active]

    def _compute(self) -> Tensor:
        self.past.copy_(self.past.index_select(1, self.order))
        self.real.copy_(self.real.index_select(0, self.order))
        self.real.index_fill_(1, self.at, True)
        logits = self.call(self.tokens, self.memory, self.real, self.memory_real, cache=self.cache)[:, -1]  # b·w v
        self.at += 1
        return logits

    def plain(self) -> tuple[Cache, Tensor, Tensor | None, Tensor | None]:
        """As an ordinary cache of the active rows: for more slots, or fewer sentences."""
        n, s = self.active, self.filled
        order = self.order[:n]
        sentences = n // self.sizes.beams
        layers = []
        for layer in self.cache.layers:
            k, v = (x.index_select(0, order)[:, :, :s] for x in layer.past.whole())
            fixed = KeyValues(fixed=True)
            if layer.memory.complete:
                fixed.k, fixed.v = (x[:sentences].clone() for x in layer.memory.whole())
            layers.append(LayerCache(KeyValues(k, v), fixed))
        mask = self.real.index_select(0, order)[:, :s]
        memory = None if self.memory is None else self.memory[:sentences].clone()
        memory_real = None if self.memory_real is None else self.memory_real[:sentences].clone()
        return Cache(layers, self.sizes.beams), mask, memory, memory_real


def _space(like: Tensor, rows: int, s: int) -> Tensor:
    return like.new_zeros(rows, like.shape[1], s, like.shape[3])  # b g s d


@dataclass
class SlottedSteps:
    """The recorded steps of one model, by their sizes."""

    weights: tuple[int, ...]
    steps: dict[Sizes, SlottedStep] = field(default_factory=dict)


_OF_MODEL: WeakKeyDictionary[nn.Module, SlottedSteps] = WeakKeyDictionary()


def steps_of(model: nn.Module) -> SlottedSteps:
    """The recorded steps of a model; forgotten when its weights have moved."""
    weights = tuple(p.data_ptr() for p in model.parameters())
    found = _OF_MODEL.get(model)
    if found is None or found.weights != weights:
        found = _OF_MODEL[model] = SlottedSteps(weights)
    return found


def may_be_slotted(model: nn.Module, positions: nn.Module, windows: bool) -> bool:
    """Slots are not positions: a bias by distance or a window would look at the wrong ones."""
    kind = getattr(positions, "acts_on", "")
    on_cuda = next(model.parameters()).is_cuda
    return on_cuda and kind in ("stream", "queries and keys") and not windows and not observed()
