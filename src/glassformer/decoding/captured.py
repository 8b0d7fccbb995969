"""Decoding on an accelerator: a step at fixed places in memory, recorded once as a CUDA graph and replayed.

One new token per sentence is little work and a thousand launches. So keys and values lie in slots, a mask says which
are filled, and every step runs the same kernels on the same addresses: only tokens, the branches that they continue and
the numbers of the slots change. The search knows nothing of it: its `State` is stepped and branches as any other.
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
from glassformer.layers.attention.mask import Branches
from glassformer.layers.attention.slots import enough_memory, enough_sentences, enough_slots
from glassformer.models.decoder import Decoder
from glassformer.tap import observed

KEPT = 8  # sizes of a model whose slots are kept, those used last
EAGER = 2  # steps before a graph is recorded: kernels are chosen and loaded

Decode = Callable[[Tensor, State], Tensor]  # the last tokens, b w → logits, b·w v


@dataclass(frozen=True)
class Sizes:
    """What a graph is recorded for."""

    sentences: int
    beams: int
    slots: int
    source: int  # positions of the memory; 0: there is none

    @classmethod
    def of(cls, tokens: Tensor, state: State) -> Sizes:
        """Room for a state and at least one step more."""
        n, beams = tokens.shape
        source = 0 if state.memory is None else state.memory.shape[1]
        return cls(enough_sentences(n), beams, enough_slots(state.cache.length, beams), enough_memory(source))


class Slots:
    """The state of a search in slots, and one step of the decoder on it.

    They belong to the state that moved in last; one that was in them before has moved out with what it holds.
    """

    def __init__(self, like: State, sizes: Sizes) -> None:
        k, _ = like.cache.layers[0].past.whole()
        n, w, layers = sizes.sentences, sizes.beams, len(like.cache.layers)
        self.sizes = sizes
        self.user: ref[State] | None = None
        self.past = k.new_zeros(2 * layers, n, k.shape[1], sizes.slots, k.shape[3])  # of every layer: k, then v
        self.at = torch.arange(w, device=k.device)  # the slots of the next tokens
        self.own = torch.arange(w, device=k.device).expand(n, w)  # every branch goes on by itself
        self.parents = self.own.clone()  # the branches that the next tokens continue
        self.tokens = torch.zeros(n, w, dtype=torch.long, device=k.device)
        self.seen = torch.zeros(n, w, sizes.slots, dtype=torch.bool, device=k.device)
        self.itself = torch.eye(w, dtype=torch.bool, device=k.device).expand(n, w, w)
        self.state = State(self._cache(like.cache), branches=Branches(self.seen, self.tokens.clone()))
        if like.memory is not None:
            self.state.memory = like.memory.new_zeros(n, sizes.source, like.memory.shape[2])
            self.state.memory_mask = torch.ones(self.state.memory.shape[:2], dtype=torch.bool, device=k.device)
        self.filled = self.active = self.steps = 0  # slots, sentences, steps ever taken
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
        return Cache(layers)

    @property
    def positions(self) -> Tensor:
        """Of the next tokens, b w."""
        assert self.state.branches is not None
        return self.state.branches.at

    @property
    def is_full(self) -> bool:
        return self.filled + self.sizes.beams > self.sizes.slots

    def load(self, state: State, n: int) -> None:
        """Begin with what an ordinary state of n texts holds; its mask may already cover the position to come."""
        before = None if self.user is None else self.user()
        if before is not None and before is not state and before.places is self:
            before.leave_places()
        self.user = ref(state)
        s = state.cache.length
        for mine, theirs in zip(self._tensors(self.state), self._tensors(state), strict=True):
            mine[:n, :, : theirs.shape[2]] = theirs
        self.seen.zero_()
        if state.branches is None:
            self.seen[:n, 0, :s] = True if state.mask is None else state.mask[:, :s]
            self.positions[:n] = self.seen[:n].sum(2)
        else:
            self.seen[:n, :, :s] = state.branches.seen[:, :, :s]
            self.positions[:n] = state.branches.at
        self.positions[n:] = 0
        if self.state.memory is not None and self.state.memory_mask is not None and state.memory is not None:
            length = state.memory.shape[1]
            self.state.memory[:n, :length] = state.memory
            self.state.memory_mask[:, length:] = False
            self.state.memory_mask[:n, :length] = True if state.memory_mask is None else state.memory_mask
            self.state.memory_mask[n:, :length] = True  # rows without a sentence look at something, too
        self.parents.copy_(self.own)
        torch.arange(s, s + self.sizes.beams, out=self.at)
        self.filled, self.active = s, n

    @staticmethod
    def _tensors(state: State) -> list[Tensor]:
        """All keys and values, b g s d."""
        both = [known for layer in state.cache.layers for known in (layer.past, layer.memory)]
        return [x for known in both if known.k is not None for x in known.whole()]

    def plain(self) -> State:
        """An ordinary state again: for more slots, or other branches."""
        n, s = self.active, self.filled
        layers = []
        for layer in self.state.cache.layers:
            k, v = (x[:n, :, :s].clone() for x in layer.past.whole())
            fixed = KeyValues(fixed=True)
            if layer.memory.complete:
                fixed.k, fixed.v = (x[:n].clone() for x in layer.memory.whole())
            layers.append(LayerCache(KeyValues(k, v), fixed))
        memory, real = (None if x is None else x[:n].clone() for x in (self.state.memory, self.state.memory_mask))
        state, seen = State(Cache(layers), memory=memory, memory_mask=real), self.seen[:n, :, :s].clone()
        if self.sizes.beams == 1:
            state.mask = seen[:, 0]
        else:
            state.branches = Branches(seen, self.positions[:n] - 1, torch.arange(1 - s, 1, device=seen.device)[None])
            state.branch(self.parents[:n])
        return state

    def keep(self, rows: Tensor) -> None:
        """The next step goes on with these sentences; the rows left over stay where the shortest of them is."""
        self.active = n = rows.shape[0]
        others = [self.state.memory, self.state.memory_mask, self.seen, self.positions]
        for x in (*self._tensors(self.state), *others):
            if x is not None:
                x[:n] = x.index_select(0, rows)
        self.positions[n:] = self.positions[:n].amin()

    def branch(self, parents: Tensor) -> bool:
        """The next step goes on with these branches; False if it has no room for so many."""
        if parents.shape[1] != self.sizes.beams:
            return False
        self.parents[: self.active] = parents
        return True

    def step(self, tokens: Tensor, decode: Decode) -> Tensor:
        """The last tokens, n w → logits, n·w v. `decode` is not kept: the model may go while its slots are known."""
        self.tokens[: self.active] = tokens
        self.steps += 1
        if self.graph is None and self.at.is_cuda and self.steps > EAGER:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.logits = self._compute(decode)
            self.graph = graph  # only now: a recording may fail, and these slots serve the next search
        if self.graph is None:
            self.logits = self._compute(decode)
        else:
            self.graph.replay()
        self.filled += self.sizes.beams
        return self.logits[: self.active * self.sizes.beams]

    def _compute(self, decode: Decode) -> Tensor:
        self.seen.copy_(self.seen.gather(1, self.parents[:, :, None].expand_as(self.seen)))
        self.seen.index_copy_(2, self.at, self.itself)
        logits = decode(self.tokens, self.state)  # b·w v
        self.parents.copy_(self.own)
        self.positions.add_(1)
        self.at.add_(self.sizes.beams)
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
    """A graph computes as it was recorded: from these tensors, in the precision that products had then."""
    tensors = ((x.data_ptr(), x.dtype) for x in chain(model.parameters(), model.buffers()))
    weights = (torch.get_float32_matmul_precision(), *tensors)
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
    """A step of decoding: on an accelerator in slots, to which the state moves at its second step; else as it is.

    A replayed graph shows nothing: if an observer has come since the last step, the state moves out.
    """
    slots = state.places
    if isinstance(slots, Slots) and (slots.is_full or observed()):
        state.leave_places()
        if state.mask is not None:  # of the past alone; only a prompt has padding
            more = state.mask.new_ones(tokens.shape)
            state.mask = torch.cat([state.mask, more], 1) if state.memory is None else None  # b s+1
        slots = None
    if slots is None:
        if not may_be_slotted(decoder, state):
            return decode(tokens, state)
        slots = slots_of(model).fitting(state, Sizes.of(tokens, state))
        slots.load(state, len(tokens))
        state.places = slots
    assert isinstance(slots, Slots)
    return slots.step(tokens, decode)
