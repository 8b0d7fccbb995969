"""What one micro-batch costs one device: FLOPs, and what is kept for the backward pass, by checkpointing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from glassformer.config.model import ModelConfig
from glassformer.formula import in_numbers, total_of
from glassformer.ledger.chunked_loss import ChunkedLoss
from glassformer.ledger.costs import Cost, Pass, Passed, chunked_loss, distinct_costs, passed
from glassformer.ledger.job import Job, sample_lengths
from glassformer.ledger.reading import CostEntry
from glassformer.ledger.rows import distinct_rows, part_location
from glassformer.models.in_symbols import InSymbols

MATRICES = ("w_q", "w_k", "w_v", "w_o", "w_gate", "w_1", "w_2")  # of a block


class ByteSum(NamedTuple):
    """Many entries as one: bytes, and the formula that gives them."""

    bytes: int
    formula: str
    numbers: str

    @classmethod
    def of(cls, entries: Iterable[tuple[CostEntry, int]]) -> ByteSum:
        """Each entry comes with the number of times it occurs."""
        amount, formulas, numbers = 0, Counter[str](), Counter[str]()
        for entry, times in entries:
            amount += entry.amount * times
            formulas[entry.formula] += times
            numbers[in_numbers(entry.formula, entry.values)] += times
        return cls(amount, total_of(formulas), total_of(numbers))


@dataclass(frozen=True)
class Work:
    """One micro-batch on one device, and the sizes of its model."""

    config: ModelConfig
    run: Pass
    tokens: int
    passed: Passed
    costs: dict[str, Cost]  # of the distinct layers
    checkpointing: str
    parameters: int
    buffers: int
    inside: int  # parameters of all blocks
    block: int  # parameters of the largest block
    blocks: int  # how many blocks there are
    logits: tuple[CostEntry, ...]
    chunks: ChunkedLoss | None  # how the loss is computed, if in chunks

    @property
    def outside(self) -> int:
        """Parameters outside the blocks."""
        return self.parameters - self.inside

    @property
    def in_symbols(self) -> InSymbols:
        return self.passed.in_symbols

    @cached_property
    def forward(self) -> int:
        return sum(cost.forward * self.in_symbols.times(part) for part, cost in self.costs.items())

    @cached_property
    def model(self) -> int:
        """Forward and backward FLOPs of the model itself."""
        return _flops(self.in_symbols, self.costs)

    @cached_property
    def triangle(self) -> int:
        """The same, with attention counted only where the look-ahead mask allows it."""
        return _flops(self.in_symbols, distinct_costs(self.passed, replace(self.run, causal="triangle")))

    @cached_property
    def recomputed(self) -> int:
        """Forward FLOPs of the blocks that checkpointing computes a second time."""
        match self.checkpointing:
            case "full":
                blocks = [cost for part, cost in self.costs.items() if part_location(part).stack]
                return sum(cost.forward * self.in_symbols.times(cost.part) for cost in blocks)
            case "selective":
                amounts = {block: sum(each.amount for each in every[1::2]) for block, every in self._linear.items()}
                return sum(amount * self._times(block) for block, amount in amounts.items())
        return 0

    @cached_property
    def _linear(self) -> dict[tuple[str, str], list[CostEntry]]:
        """Block → its products with a weight matrix, in order."""
        found: dict[tuple[str, str], list[CostEntry]] = defaultdict(list)
        for cost in self.costs.values():
            stack, layer, _ = part_location(cost.part)
            if stack:
                found[stack, layer] += [product for product in cost.products if product.name in MATRICES]
        return found

    @cached_property
    def _kept_by_block(self) -> dict[tuple[str, str], list[CostEntry]]:
        """Block → what it keeps without checkpointing; ("", ""): the rest of the model."""
        found: dict[tuple[str, str], list[CostEntry]] = defaultdict(list)
        for cost in self.costs.values():
            stack, layer, _ = part_location(cost.part)
            found[stack, layer] += cost.kept
        return found

    def _times(self, block: tuple[str, str]) -> int:
        return self.in_symbols.times(".blocks.".join(block))

    @cached_property
    def kept(self) -> tuple[tuple[CostEntry, int], ...]:
        """What stays in memory until the backward pass, and how often: once in every identical layer."""
        blocks = self._kept_by_block
        if self.checkpointing != "none":
            blocks = {("", ""): blocks["", ""]} | {block: self._checkpoints(block) for block in self._linear}
        return tuple((entry, self._times(block)) for block, entries in blocks.items() for entry in entries)

    def _checkpoints(self, block: tuple[str, str]) -> list[CostEntry]:
        """What a block keeps if it is recomputed, in full or in part."""
        products = self._linear[block]
        kept = [replace(products[0], name="input", formula=products[0].takes)]
        if self.checkpointing == "selective":
            kept += [replace(product, formula=product.gives) for product in products[::2]]
            kept += [entry for entry in self._kept_by_block[block] if entry.name in ("logsumexp", "heads")]
        return kept

    @cached_property
    def at_work(self) -> tuple[CostEntry, ...]:
        """Memory of the block whose backward pass runs: all it keeps, if recomputed, and two gradients inside it."""
        blocks = {block: entries for block, entries in self._kept_by_block.items() if block[0]}
        if not blocks:
            return ()
        largest = max(blocks, key=lambda block: sum(entry.amount for entry in blocks[block]))
        hidden = next(product for product in self._linear[largest] if product.name == "w_1")
        gradient = replace(hidden, name="gradient", formula=hidden.gives)
        return (*(blocks[largest] if self.checkpointing != "none" else ()), gradient, gradient)

    @cached_property
    def traffic(self) -> int:
        """Bytes of activations and logits that are written and read, or read and written again."""
        logits = 2 * self.sums["logits"].bytes if self.chunks is None else self.chunks.traffic
        return 2 * self.sums["activations"].bytes + logits

    @cached_property
    def sums(self) -> dict[str, ByteSum]:
        """Activations, logits and the block at work; the same on any number of devices."""
        return {
            "activations": ByteSum.of(self.kept),
            "logits": ByteSum.of((entry, 1) for entry in self.logits),
            "block_at_work": ByteSum.of((entry, 1) for entry in self.at_work),
        }


def work(config: ModelConfig, job: Job) -> Work:
    """The micro-batch of a job, from the configuration alone."""
    source, target = sample_lengths(config, job)
    dtype = "bfloat16" if job.width == 2 else "float32"
    run = Pass(
        batch=job.batch,
        length=source,
        target_length=target,
        dtype=dtype,
        causal=job.causal,
        device="cuda",
        loss=job.loss,
    )
    done = passed(config, run)
    parts, times_of = distinct_costs(done, run), done.in_symbols.times
    chunks = chunked_loss(done.in_symbols, parts, run)
    rows = distinct_rows(config)[1].values()
    blocks: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        stack, layer, _ = part_location(row.name)
        if stack:
            blocks[stack, layer] += row.parameters
    times = {block: times_of(".blocks.".join(block)) for block in blocks}
    positions = source + target if config.family == "encoder-decoder" else source
    return Work(
        config=config,
        run=run,
        tokens=job.batch * positions,
        passed=done,
        costs=parts,
        checkpointing=job.checkpointing,
        parameters=sum(row.parameters * times_of(row.name) for row in rows),
        buffers=sum(row.buffers * times_of(row.name) for row in rows),
        inside=sum(size * times[block] for block, size in blocks.items()),
        block=max(blocks.values(), default=0),
        blocks=sum(times.values()),
        logits=_logits(config, job, parts) if chunks is None else (chunks.largest,),
        chunks=chunks,
    )


def _flops(in_symbols: InSymbols, costs: dict[str, Cost]) -> int:
    return sum((cost.forward + cost.backward) * in_symbols.times(part) for part, cost in costs.items())


def _logits(config: ModelConfig, job: Job, costs: dict[str, Cost]) -> tuple[CostEntry, ...]:
    """The logits, their log-probabilities and both gradients; the last three in float32, or `dtype` when pure."""
    if config.head.kind != "language_model":
        return ()
    product = costs["head"].products[-1]
    loss = replace(product, name="loss", formula=f"3×b×t×vocab_size×{job.state_width}")
    return replace(product, name="logits", formula=product.gives), loss
