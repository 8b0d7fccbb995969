"""Where the bytes of a training step are: weights, gradients, optimiser state, activations, and the peak, by formula.

What each part holds is exact. The peak is an estimate: the fullest of some moments, see moments.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.ledger.costs import (
    COUNTING,
    NUMBER_BYTES,
    OPTIMIZER_STATES,
    Cost,
    Pass,
    Passed,
    distinct_costs,
    passed,
)
from glassformer.ledger.moments import Bytes, decoding_moments, training_moments
from glassformer.ledger.rows import ParameterRow, distinct_rows
from glassformer.models.in_symbols import InSymbols


@dataclass(frozen=True)
class PartMemory:
    """One part of the model: what it holds permanently, for the backward pass, and in the KV cache when decoding."""

    part: str
    held: tuple[Bytes, ...]

    def to_json(self) -> dict[str, Any]:
        return {"name": self.part, **{f"{each.name}_bytes": vars(each) for each in self.held}}


@dataclass(frozen=True)
class MemoryUse:
    """All parts, and the moments of a step at which memory can peak."""

    model: InSymbols
    held: dict[str, tuple[Bytes, ...]]  # by part of the distinct layers: rows of the ledger first, then the others
    rows: int  # how many of them are rows of the ledger
    moments: dict[str, tuple[Bytes, ...]]

    @cached_property
    def parts(self) -> tuple[PartMemory, ...]:
        """Every part of the whole model."""
        names = [*self.held]
        every = (*self.model.everywhere(names[: self.rows]), *self.model.everywhere(names[self.rows :]))
        return tuple(PartMemory(name, self.held[like]) for name, like in every)

    @cached_property
    def at(self) -> str:
        """The moment of the peak."""
        return max(self.moments, key=lambda name: sum(each.amount for each in self.moments[name]))

    @property
    def peak(self) -> int:
        return sum(each.amount for each in self.moments[self.at])

    def total(self, name: str) -> int:
        return _total(self.model, self.held, name)

    def to_json(self) -> dict[str, Any]:
        return {
            "parts": [part.to_json() for part in self.parts],
            "moments": {name: [vars(each) for each in held] for name, held in self.moments.items()},
            "peak_at": self.at,
            "peak_bytes": self.peak,
        }


def memory(config: ModelConfig, run: Pass) -> MemoryUse:
    """The memory of one pass: with `training=False` only weights and KV cache."""
    done = passed(config, run)
    return memory_of(config, run, *distinct_rows(config), done, distinct_costs(done, run))


def memory_of(
    config: ModelConfig,
    run: Pass,
    model: InSymbols,
    rows: Mapping[str, ParameterRow],
    done: Passed,
    costs: Mapping[str, Cost],
) -> MemoryUse:
    """The same where rows and costs of the distinct layers are known."""
    held = {name: tuple(_held(rows.get(name), costs.get(name), run)) for name in dict.fromkeys([*rows, *costs])}
    if run.training:
        moments = training_moments(config, run, model, rows, costs)
    else:
        sums = {name: _total(model, held, name) for name in ("weights", "buffers", "cache")}
        moments = decoding_moments(config, run, done, sums)
    return MemoryUse(model, held, len(rows), moments)


def _held(row: ParameterRow | None, cost: Cost | None, run: Pass) -> Iterable[Bytes]:
    if row is not None and row.parameters + row.buffers:
        w, states = NUMBER_BYTES[run.dtype], OPTIMIZER_STATES[run.optimizer]
        if row.parameters:
            yield Bytes.of("weights", f"({row.formula})×w", **row.values, w=w)
        if row.buffers:
            yield Bytes.of("buffers", "buffers×w", buffers=row.buffers, w=w)
        if run.training and row.parameters:
            yield Bytes.of("gradients", f"({row.formula})×w", **row.values, w=w)
            if states:
                yield Bytes.of("optimizer", f"states×({row.formula})×w", **row.values, w=w, states=states)
            if run.optimizer in COUNTING:
                yield Bytes.of("counters", "tensors×4", tensors=row.trained_tensors)
    if cost is not None:
        yield from (Bytes.sum("kept", cost.kept),) if cost.kept else ()
        yield from (Bytes.sum("again", cost.recomputed),) if cost.recomputed else ()
        yield from (Bytes.sum("cache", cost.cached),) if cost.cached and not run.training else ()


def _total(model: InSymbols, held: dict[str, tuple[Bytes, ...]], name: str) -> int:
    """All bytes of this name in the whole model."""
    return sum(each.amount * model.times(part) for part, every in held.items() for each in every if each.name == name)
