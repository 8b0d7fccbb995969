"""Decoding on an accelerator: a step at fixed places in memory, recorded once as a CUDA graph and replayed.

One new token per sentence is little work and a thousand launches. So keys and values lie in slots, a mask says which
are filled, and every step runs the same kernels on the same addresses: only tokens, the order of beams and the
number of the slot change. The search knows nothing of it: its `State` is stepped and reordered as any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary, ref

import torch
from torch import Tensor, nn

from glassformer.decoding.state import State
from glassformer.layers.attention.cache import Cache, KeyValues, LayerCache, SlottedKeyValues
from glassformer.layers.attention.slots import SLOTS, enough_memory, enough_sentences, enough_slots
from glassformer.models.decoder import Decoder
from glassformer.tap import observed

KEPT = 8  # sizes of a model whose slots are kept, those used last
EAGER = 2  # steps before a graph is recorded: kernels are chosen and loaded

Decode = Callable[[Tensor, State], Tensor]  # the last tokens, b 1 → logits, b v


@dataclass(frozen=True)
class Sizes:
    """What a graph is recorded for."""

    sentences: int
    beams: int
    slots: int
    source: int  # positions of the memory; 0: there is none

    @classmethod
    def of(cls, rows: int, state: State) -> Sizes:
        """Room for a state and at least one position more."""
        beams, slots = state.cache.beams, enough_slots(state.cache.length, SLOTS)
        source = 0 if state.memory is None else state.memory.shape[1]
        return cls(enough_sentences(rows // beams), beams, slots, enough_memory(source))


class Slots:
    """The state of a search in slots, and one step of the decoder on it.

    They belong to the state that moved in last; one that was in them before has moved out with what it holds.
    """

    def __init__(self, like: State, sizes: Sizes) -> None:
        k, _ = like.cache.layers[0].past.whole()
        rows, layers = sizes.sentences * sizes.beams, len(like.cache.layers)
        self.sizes = sizes
        self.user: ref[State] | None = None
        self.past = k.new_zeros(2 * layers, rows, k.shape[1], sizes.slots, k.shape[3])  # of every layer: k, then v
        self.at = torch.zeros(1, dtype=torch.long, device=k.device)  # the slot of the next position
        self.order = torch.arange(rows, device=k.device)  # the rows that go on
        self.tokens = torch.zeros(rows, 1, dtype=torch.long, device=k.device)
        self.mask = torch.zeros(rows, sizes.slots, dtype=torch.bool, device=k.device)
        self.state = State(self._cache(like.cache), self.mask)
        if like.memory is not None:
            self.state.memory = like.memory.new_zeros(sizes.sentences, sizes.source, like.memory.shape[2])
            self.state.memory_mask = torch.ones(self.state.memory.shape[:2], dtype=torch.bool, device=k.device)
        self.filled = self.active = self.steps = 0  # slots, rows, steps ever taken
        self.graph: torch.cuda.CUDAGraph | None = None
        self.logits = k.new_zeros(0)

    def _cache(self, like: Cache) -> Cache:
        layers = []
        for both, layer in zip(self.past.unflatten(0, (-1, 2)).unbind(), like.layers, strict=True):
            memory = KeyValues(fixed=True)
            if layer.memory.complete:
                n, s = self.sizes.sentences, self.sizes.source
                memory.k, memory.v = (x.new_zeros(n, x.shape[1], s, x.shape[3]) for x in layer.memory.whole())
            layers.append(LayerCache(SlottedKeyValues(both[0], both[1], at=self.at), memory))
        return Cache(layers, self.sizes.beams)

    @property
    def is_full(self) -> bool:
        return self.filled >= self.sizes.slots

    def load(self, state: State) -> None:
        """Begin with what an ordinary state holds; its mask may already cover the position to come."""
        before = None if self.user is None else self.user()
        if before is not None and before is not state and before.places is self:
            before.leave_places()
        self.user = ref(state)
        rows, s = state.cache.layers[0].past.whole()[0].shape[0], state.cache.length
        for mine, theirs in zip(self.state.cache.layers, state.cache.layers, strict=True):
            for slots, x in zip(mine.past.whole(), theirs.past.whole(), strict=True):
                slots[:rows, :, :s] = x
            if theirs.memory.complete:
                for fixed, x in zip(mine.memory.whole(), theirs.memory.whole(), strict=True):
                    fixed[: x.shape[0], :, : x.shape[2]] = x
        self.mask.zero_()
        self.mask[:rows, :s] = True if state.mask is None else state.mask[:, :s]
        if self.state.memory is not None and self.state.memory_mask is not None and state.memory is not None:
            n, length = state.memory.shape[:2]
            self.state.memory[:n, :length] = state.memory
            self.state.memory_mask[:, length:] = False
            self.state.memory_mask[:n, :length] = True if state.memory_mask is None else state.memory_mask
            self.state.memory_mask[n:, :length] = True  # rows without a sentence look at something, too
        self.at.fill_(s)
        self.filled, self.active = s, rows
        self._keep_order()

    def plain(self) -> State:
        """An ordinary state again: for more slots."""
        order, s, n = self.order[: self.active], self.filled, self.active // self.sizes.beams
        layers = []
        for layer in self.state.cache.layers:
            k, v = (x.index_select(0, order)[:, :, :s] for x in layer.past.whole())
            fixed = KeyValues(fixed=True)
            if layer.memory.complete:
                fixed.k, fixed.v = (x[:n].clone() for x in layer.memory.whole())
            layers.append(LayerCache(KeyValues(k, v), fixed))
        memory, real = (None if x is None else x[:n].clone() for x in (self.state.memory, self.state.memory_mask))
        return State(Cache(layers, self.sizes.beams), self.mask.index_select(0, order)[:, :s], memory, real)

    def fits(self, rows: int, beams: int) -> bool:
        return rows <= self.order.shape[0] and beams == self.sizes.beams

    def reorder(self, rows: Tensor, sentences: Tensor | None) -> None:
        """The next step begins by going on with these rows.

        The rows left over follow the first of them: by themselves they would grow longer than the table of positions.
        """
        self.active = rows.shape[0]
        self.order[: self.active] = rows
        self.order[self.active :] = rows[:1]
        if sentences is None:
            return
        kept = [x for layer in self.state.cache.layers if layer.memory.complete for x in layer.memory.whole()]
        for x in (*kept, self.state.memory, self.state.memory_mask):
            if x is not None:
                x[: sentences.shape[0]] = x.index_select(0, sentences)

    def _keep_order(self) -> None:
        torch.arange(self.order.shape[0], out=self.order)

    def step(self, tokens: Tensor, decode: Decode) -> Tensor:
        """The last tokens, n 1 → logits, n v. `decode` is not kept: the model may go while its slots are known."""
        self.tokens[: self.active] = tokens
        self.steps += 1
        if self.graph is None and self.at.is_cuda and self.steps > EAGER:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.logits = self._compute(decode)
        if self.graph is None:
            self.logits = self._compute(decode)
        else:
            self.graph.replay()
        self.filled += 1
        self._keep_order()
        return self.logits[: self.active]

    def _compute(self, decode: Decode) -> Tensor:
        self.past.copy_(self.past.index_select(1, self.order))
        self.mask.copy_(self.mask.index_select(0, self.order))
        self.mask.index_fill_(1, self.at, True)
        logits = decode(self.tokens, self.state)  # b·w v
        self.at += 1
        return logits


@dataclass
class RecordedSlots:
    """The slots of one model, by their sizes, as long as its weights and tables stay where they are."""

    weights: tuple[Any, ...]
    slots: dict[Sizes, Slots] = field(default_factory=dict)

    def fitting(self, state: State, sizes: Sizes) -> Slots:
        """Slots of these sizes; they count as the last that were used, and the oldest are given up."""
        found = self.slots.pop(sizes, None) or Slots(state, sizes)
        self.slots[sizes] = found
        while len(self.slots) > KEPT:
            del self.slots[next(iter(self.slots))]
        return found


_OF_MODEL: WeakKeyDictionary[nn.Module, RecordedSlots] = WeakKeyDictionary()


def slots_of(model: nn.Module) -> RecordedSlots:
    weights = tuple((x.data_ptr(), x.dtype) for x in chain(model.parameters(), model.buffers()))
    found = _OF_MODEL.get(model)
    if found is None or found.weights != weights:
        found = _OF_MODEL[model] = RecordedSlots(weights)
    return found


def may_be_slotted(decoder: Decoder, state: State) -> bool:
    """Whether slots can hold it: keys and values of all layers must have one shape, since they share their memory.

    Autocast keeps copies of the weights, which a graph would read after they are gone.
    """
    if not state.cache.length or observed() or not decoder.may_be_slotted or torch.is_autocast_enabled("cuda"):
        return False
    shapes = {x.shape for layer in state.cache.layers for x in layer.past.whole()}
    return len(shapes) == 1 and state.cache.layers[0].past.whole()[0].is_cuda


def in_slots(model: nn.Module, decoder: Decoder, decode: Decode, tokens: Tensor, state: State) -> Tensor:
    """A step of decoding: on an accelerator in slots, to which the state moves at its second step; else as it is."""
    slots = state.places
    if isinstance(slots, Slots) and slots.is_full:
        state.leave_places()
        slots = None
    if slots is None:
        if not may_be_slotted(decoder, state):
            return decode(tokens, state)
        slots = slots_of(model).fitting(state, Sizes.of(tokens.shape[0], state))
        slots.load(state)
        state.places = slots
    assert isinstance(slots, Slots)
    return slots.step(tokens, decode)
