"""Where the bytes of a training step are: weights, gradients, optimiser state, activations, and the peak, by formula.

What each part holds is exact. The peak is an estimate: the largest of three moments of a step, each with everything
alive then, for a loop that frees the gradients after each update and does not keep the logits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.formula import evaluate_formula, in_numbers, total
from glassformer.ledger.costs import NUMBER_BYTES, OPTIMIZER_STATES, Cost, Pass, distinct_costs, passed
from glassformer.ledger.reading import CostEntry
from glassformer.ledger.rows import ParameterRow, distinct_rows, part_location
from glassformer.models.check import input_positions
from glassformer.models.in_symbols import InSymbols


@dataclass(frozen=True)
class Bytes:
    """An amount of memory: its name (a key of words/), its formula in symbols and in numbers, and its value."""

    name: str
    formula: str
    numbers: str
    amount: int

    @classmethod
    def of(cls, name: str, formula: str, **values: int) -> Bytes:
        return cls(name, formula, in_numbers(formula, values), evaluate_formula(formula, values))

    @classmethod
    def sum(cls, name: str, entries: Iterable[CostEntry]) -> Bytes:
        entries = tuple(entries)
        numbers = total(in_numbers(entry.formula, entry.values) for entry in entries)
        return cls(name, total(entry.formula for entry in entries), numbers, sum(entry.amount for entry in entries))


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
    return memory_of(config, run, *distinct_rows(config), distinct_costs(passed(config, run), run))


def memory_of(
    config: ModelConfig, run: Pass, model: InSymbols, rows: Mapping[str, ParameterRow], costs: Mapping[str, Cost]
) -> MemoryUse:
    """The same where rows and costs of the distinct layers are known."""
    held = {name: tuple(_held(rows.get(name), costs.get(name), run)) for name in dict.fromkeys([*rows, *costs])}
    moments = _moments(config, run, model, rows, costs) if run.training else _serving(model, held)
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
    if cost is not None:
        yield from (Bytes.sum("kept", cost.kept),) if cost.kept else ()
        yield from (Bytes.sum("again", cost.recomputed),) if cost.recomputed else ()
        yield from (Bytes.sum("cache", cost.cached),) if cost.cached and not run.training else ()


def _total(model: InSymbols, held: dict[str, tuple[Bytes, ...]], name: str) -> int:
    """All bytes of this name in the whole model."""
    return sum(each.amount * model.times(part) for part, every in held.items() for each in every if each.name == name)


def _serving(model: InSymbols, held: dict[str, tuple[Bytes, ...]]) -> dict[str, tuple[Bytes, ...]]:
    """Decoding: the weights, and the cache after this pass."""
    sums = {name: _total(model, held, name) for name in ("weights", "buffers", "cache")}
    return {"decoding": tuple(Bytes(name, name, f"{amount}", amount) for name, amount in sums.items())}


def _moments(
    config: ModelConfig, run: Pass, model: InSymbols, rows: Mapping[str, ParameterRow], costs: Mapping[str, Cost]
) -> dict[str, tuple[Bytes, ...]]:
    """What is alive at three moments of a step.

    loss    its gradient is being computed, and all activations are still in memory
    block   the backward pass enters the last block: the head's gradient exists, the head's inputs are freed
    update  all gradients exist, and no activations
    """
    w = NUMBER_BYTES[run.dtype]
    n = sum(row.parameters * model.times(row.name) for row in rows.values())
    buffers = sum(row.buffers * model.times(row.name) for row in rows.values())
    always = (
        Bytes.of("weights", "parameters×w", parameters=n, w=w),
        Bytes.of("buffers", "buffers×w", buffers=buffers, w=w),
        Bytes.of("optimizer", "states×parameters×w", states=OPTIMIZER_STATES[run.optimizer], parameters=n, w=w),
    )
    kept = sum(cost.saved * model.times(part) for part, cost in costs.items())
    head = sum(cost.saved for part, cost in costs.items() if part.split(".")[0] == "head")
    sizes = {"b": run.batch, "t": _positions(config, run), "d_model": config.d_model, "d_ff": config.d_ff, "w": w}
    sizes |= {"vocab_size": config.output_vocab_size or 0, "c": 2 if run.autocast else w}
    sizes["l"] = 4 if run.autocast else w  # under autocast the loss is computed in float32, from logits in bfloat16
    has_logits = config.head.kind == "language_model"
    embedding = "vocab_size×d_model×w" if has_logits else "0"
    tied = config.tie_embeddings in ("output", "all") and has_logits
    loss = Bytes.of("loss", "b×t×vocab_size×(2×l+c)" if has_logits else "0", **sizes)
    recomputed = _largest_block(costs)
    return {
        "loss": (*always, Bytes("kept", "kept", f"{kept}", kept), loss),
        "block": (
            *always,
            Bytes("kept", "kept-head", f"{kept}-{head}", kept - head),
            Bytes("again", "one block", f"{recomputed}", recomputed),
            Bytes.of("gradients", embedding, **sizes),
            Bytes.of("flow", "2×b×t×d_model×w+2×b×t×d_ff×c", **sizes),
        ),
        "update": (
            *always,
            Bytes.of("gradients", "parameters×w", parameters=n, w=w),
            Bytes.of("flow", embedding if tied else "0", **sizes),  # a tied matrix gets its gradient from both ends
        ),
    }


def _positions(config: ModelConfig, run: Pass) -> int:
    """Positions of the stream that the head sees."""
    source = input_positions(config) or run.length
    return source if config.family != "encoder-decoder" else config.queries or run.target_length or run.length


def _largest_block(costs: Mapping[str, Cost]) -> int:
    blocks: dict[tuple[str, str], int] = {}
    for part, cost in costs.items():
        where = part_location(part)
        block = where.stack, where.layer
        blocks[block] = blocks.get(block, 0) + sum(entry.amount for entry in cost.recomputed)
    return max(blocks.values(), default=0)
