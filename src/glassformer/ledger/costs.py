"""What one pass costs: FLOPs of the matrix products and bytes kept for the backward pass, by part, by formula.

One multiply-add is two FLOPs. Attention is counted as the full square, or with `causal="triangle"` only where the
look-ahead mask allows it. The real `forward` is run, in symbols: nothing is computed and nothing is allocated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import one_of, size
from glassformer.errors import ConfigError, choose
from glassformer.formula import in_numbers, total
from glassformer.layers.attention import KERNELS, Cache
from glassformer.layers.attention.slots import enough_memory, enough_sentences, enough_slots
from glassformer.layers.position import WITH_TABLE
from glassformer.ledger.chunked_loss import ChunkedLoss
from glassformer.ledger.reading import Account, CostEntry, read_rows
from glassformer.ledger.rows import copy_with
from glassformer.models.check import input_positions
from glassformer.models.in_symbols import DTYPES, InSymbols, in_symbols, pass_lengths, run_pass
from glassformer.symbols.run import Step, SymbolicRun
from glassformer.symbols.size import Dim, product_text, values

NUMBER_BYTES = {name: dtype.itemsize for name, dtype in DTYPES.items()}
CONVENTIONS = {"square": False, "triangle": True}
DEVICES = {"cpu": False, "cuda": True}
OPTIMIZER_STATES = {"adamw": 2, "adam": 2, "momentum": 1, "lion": 1, "sgd": 0}  # numbers kept for each parameter
COUNTING = ("adamw", "adam")  # optimisers that also keep the number of the step, in float32, for each tensor
LOSS_FORMS = ("chunks", "whole")  # of a wide head on an accelerator; elsewhere all logits are held


@dataclass(frozen=True, kw_only=True)
class Pass:
    """One pass: how much text, in which type, and whether it is a training step or a step of decoding."""

    batch: int = 1
    length: int = 128
    target_length: int | None = None  # default: length
    dtype: str = "float32"
    training: bool = True
    past: int = 0  # decoding: positions already in the KV cache
    causal: str = "square"
    kernel: str = "fused"
    device: str = "cpu"
    autocast: bool = False  # products and stream in bfloat16, weights as they are
    recompute: bool = False  # activation checkpointing: blocks are computed again in the backward pass
    optimizer: str = "adamw"
    loss: str = "chunks"  # as an accelerator computes that of a wide head: a chunk of logits at a time, or the whole
    compiled: bool = True  # training on an accelerator: the stacks are compiled, unless blocks are computed again
    beams: int = 1  # decoding: so many rows of the batch are hypotheses of one sentence

    def __post_init__(self) -> None:
        for key in ("batch", "length", "target_length", "past", "beams"):
            value, low = getattr(self, key), 0 if key == "past" else 1
            if value is not None:
                size(key, value, low)
        if self.batch % self.beams:
            raise ConfigError("beams_batch", beams=self.beams, batch=self.batch)
        choose("dtype", self.dtype, NUMBER_BYTES)
        choose("causal", self.causal, CONVENTIONS)
        choose("kernel", self.kernel, KERNELS)
        choose("device", self.device, DEVICES)
        choose("optimizer", self.optimizer, OPTIMIZER_STATES)
        one_of("loss", self.loss, LOSS_FORMS)

    @property
    def product_bytes(self) -> int:
        """Bytes of a number of the products: under autocast 2."""
        return 2 if self.autocast else NUMBER_BYTES[self.dtype]


@dataclass(frozen=True)
class Cost:
    """One part of the model in one pass."""

    part: str
    products: tuple[CostEntry, ...]
    kept: tuple[CostEntry, ...]
    recomputed: tuple[CostEntry, ...] = ()  # kept only while the backward pass is in this block
    cached: tuple[CostEntry, ...] = ()  # the KV cache, when decoding

    @cached_property
    def forward(self) -> int:
        return sum(entry.amount for entry in self.products)

    @cached_property
    def backward(self) -> int:
        """FLOPs of the gradients: one product for each factor, except for an input of the model.

        With activation checkpointing the forward product is computed a second time.
        """
        return sum(entry.amount * (entry.backward + entry.recomputed) for entry in self.products)

    @cached_property
    def saved(self) -> int:
        return sum(entry.amount for entry in self.kept)

    def like(self, part: str) -> Cost:
        """The same cost for a part of an identical layer: only its name differs."""
        _ = self.forward, self.backward, self.saved
        return copy_with(self, part=part)

    @property
    def flops_formula(self) -> str:
        return total(entry.formula for entry in self.products)

    @property
    def saved_formula(self) -> str:
        return total(entry.formula for entry in self.kept)

    def to_json(self) -> dict[str, Any]:
        def numbers(entries: tuple[CostEntry, ...]) -> str:
            return total(in_numbers(entry.formula, entry.values) for entry in entries)

        return {
            "flops_forward": self.forward,
            "flops_backward": self.backward,
            "flops_formula": self.flops_formula,
            "flops_numbers": numbers(self.products),
            "saved_bytes": self.saved,
            "saved_formula": self.saved_formula,
            "saved_numbers": numbers(self.kept),
        }


def check_lengths(config: ModelConfig, run: Pass) -> None:
    """Raises if the pass is longer than the table of positions: it could not be run."""
    if config.position.kind not in WITH_TABLE or input_positions(config) is not None:
        return
    longest = run.length + run.past
    if config.family == "encoder-decoder":  # the cache belongs to the decoder
        longest = max(run.length, 0 if config.queries else (run.target_length or run.length) + run.past)
    if longest > config.max_len:
        raise ConfigError("too_long", length=longest, max_len=config.max_len)


@dataclass(frozen=True)
class Passed:
    """A pass that was run in symbols: the model, its steps, and the cache after decoding."""

    in_symbols: InSymbols
    symbols: SymbolicRun
    cache: Cache | None

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every torch function that the pass calls, in order; of identical layers only the first two."""
        return tuple(step for step in self.symbols.steps if step.function not in ("enter", "leave"))


def passed(config: ModelConfig, run: Pass) -> Passed:
    """Run the real `forward`, in symbols."""
    check_lengths(config, run)
    on = DEVICES[run.device]
    compiling = on and run.compiled and not run.recompute
    symbols = SymbolicRun(DTYPES[run.dtype], accelerator=on, compiling=compiling, autocast=run.autocast)
    model = in_symbols(config, symbols, run.kernel)
    sizes = pass_lengths(config, run.batch, run.length, run.target_length, run.past)
    return Passed(model, symbols, run_pass(config, symbols, model, sizes, training=run.training))


def costs(config: ModelConfig, run: Pass) -> dict[str, Cost]:
    """Every part that computes or keeps something, in the order of the data."""
    done = passed(config, run)
    distinct = distinct_costs(done, run)
    return {part: distinct[like].like(part) for part, like in done.in_symbols.everywhere(distinct)}


def distinct_costs(done: Passed, run: Pass) -> dict[str, Cost]:
    """The costs of the distinct layers; `done.in_symbols` knows which layers they stand for."""
    accounts = read_rows(done.in_symbols, done.symbols.steps, recompute=run.recompute, triangle=CONVENTIONS[run.causal])
    cached = _cached(done, run)
    found = {part: _cost(part, account, cached.get(part, ()), run) for part, account in accounts.items()}
    chunks = chunked_loss(done.in_symbols, found, run)
    if chunks is not None:
        found["head"] = replace(found["head"], kept=chunks.kept)
    return found


def chunked_loss(model: InSymbols, costs: Mapping[str, Cost], run: Pass) -> ChunkedLoss | None:
    """How the loss is computed if it comes in chunks; None if all logits are held."""
    if not run.training or not DEVICES[run.device] or run.loss == "whole" or "head" not in costs:
        return None
    whole: Any = model.model
    widths = {"w": NUMBER_BYTES[run.dtype], "c": run.product_bytes}
    return ChunkedLoss.of(whole.head, {**costs["head"].products[-1].values, **widths})


def _cost(part: str, account: Account, cached: tuple[CostEntry, ...], run: Pass) -> Cost:
    """The cost of one part. Decoding has no backward pass, so no gradients and nothing kept."""
    if not run.training:
        return Cost(part, tuple(replace(entry, backward=0) for entry in account.products), (), (), cached)
    kept = tuple(entry for entry in account.kept if not entry.recomputed)
    recomputed = tuple(entry for entry in account.kept if entry.recomputed)
    return Cost(part, tuple(account.products), kept, recomputed, cached)


def slot_sizes(done: Passed, run: Pass) -> dict[str, int] | None:
    """On an accelerator the cache of a step of decoding is in slots: how many, for how many sentences; None elsewhere.

    The first pass over a prompt has none yet, nor has a decoder that cannot use them.
    """
    model: Any = done.in_symbols.model
    decodes = not run.training and run.past and DEVICES[run.device] and not run.autocast
    if not decodes or done.cache is None or not model.decoder.may_be_slotted:
        return None
    k, v = done.cache.layers[0].past.whole()
    if k.shape[3] != v.shape[3] or int(k.shape[2]) != run.past + 1:
        return None
    memory = done.cache.layers[0].memory.k
    return {
        "sentences": enough_sentences(run.batch // run.beams),
        "beams": run.beams,
        "slots": enough_slots(run.past * run.beams, run.beams),
        "source": 0 if memory is None else enough_memory(int(memory.shape[2])),
    }


def _cached(done: Passed, run: Pass) -> dict[str, tuple[CostEntry, ...]]:
    """Keys and values in the cache after the pass, by the part that computes them."""
    found: dict[str, tuple[CostEntry, ...]] = {}
    slotted = slot_sizes(done, run)
    for number, layer in enumerate(done.cache.layers if done.cache else ()):
        for box, held in (("self_attention", layer.past), ("cross_attention", layer.memory)):
            if held.k is not None and held.v is not None:
                b, n_kv_heads, s, d_k = held.k.shape
                rows: tuple[int, ...] = (b, s)
                if slotted is not None:
                    sentences, _, slots, source = (Dim(name, value) for name, value in slotted.items())
                    rows = (sentences, slots) if box == "self_attention" else (sentences, source)
                elif box == "cross_attention" and run.past:
                    rows = (b // Dim("beams", run.beams), s) if run.beams > 1 else rows
                bytes_ = (*rows, n_kv_heads, d_k + held.v.shape[3], done.symbols.bytes(held.k.dtype))
                entry = CostEntry("keys and values", product_text(bytes_), values(bytes_))
                found[f"decoder.blocks.{number}.{box}.qkv"] = (entry,)
    return found
