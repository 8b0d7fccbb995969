"""What one pass costs: FLOPs of the matrix products and bytes kept for the backward pass, by part, by formula.

One multiply-add is two FLOPs. Attention is counted as the full square, or with `causal="triangle"` only where a
look-ahead mask lets it look. Nothing is run and nothing is built.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from glassformer.config import ModelConfig
from glassformer.errors import ConfigError, choose
from glassformer.formula import in_numbers, total
from glassformer.layers.attention.shadow import SHADOWS
from glassformer.layers.position import WITH_TABLE
from glassformer.models.build import shadow
from glassformer.models.check import input_positions
from glassformer.tape import Entry, Tape
from glassformer.values import size

WIDTHS = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8}
CONVENTIONS = {"square": False, "triangle": True}
DEVICES = {"cpu": False, "cuda": True}
OPTIMIZER_STATES = {"adamw": 2, "adam": 2, "momentum": 1, "sgd": 0}  # numbers kept for each parameter


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
    autocast: bool = False  # products in bfloat16, weights and stream as they are
    recompute: bool = False  # activation checkpointing: blocks are computed again in the backward pass
    optimizer: str = "adamw"

    def __post_init__(self) -> None:
        for key in ("batch", "length", "target_length", "past"):
            value, low = getattr(self, key), 0 if key == "past" else 1
            if value is not None:
                size(key, value, low)
        choose("dtype", self.dtype, WIDTHS)
        choose("causal", self.causal, CONVENTIONS)
        choose("kernel", self.kernel, SHADOWS)
        choose("device", self.device, DEVICES)
        choose("optimizer", self.optimizer, OPTIMIZER_STATES)


@dataclass(frozen=True)
class Cost:
    """One part of the model in one pass."""

    part: str
    products: tuple[Entry, ...]
    kept: tuple[Entry, ...]
    again: tuple[Entry, ...] = ()  # kept only while the backward pass is in this block
    cached: tuple[Entry, ...] = ()  # the KV cache, when decoding

    @cached_property
    def forward(self) -> int:
        return sum(entry.amount for entry in self.products)

    @cached_property
    def backward(self) -> int:
        """Each product has two gradients, of both its sides; that of an input of the model is not computed.

        With activation checkpointing the product itself comes a second time.
        """
        return sum(entry.amount * (entry.backward + entry.again) for entry in self.products)

    @cached_property
    def saved(self) -> int:
        return sum(entry.amount for entry in self.kept)

    @property
    def flops_formula(self) -> str:
        return total(entry.formula for entry in self.products)

    @property
    def saved_formula(self) -> str:
        return total(entry.formula for entry in self.kept)

    def to_json(self) -> dict[str, Any]:
        def numbers(entries: tuple[Entry, ...]) -> str:
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
    """A pass longer than the table of positions cannot be run, so it is not counted either."""
    if config.position.kind not in WITH_TABLE or input_positions(config) is not None:
        return
    longest = run.length + run.past
    if config.family == "encoder-decoder":  # the cache is the decoder's
        longest = max(run.length, 0 if config.queries else (run.target_length or run.length) + run.past)
    if longest > config.max_len:
        raise ConfigError("too_long", length=longest, max_len=config.max_len)


def costs(config: ModelConfig, run: Pass) -> dict[str, Cost]:
    """Every part that computes or keeps something, in the order of the data."""
    check_lengths(config, run)
    tape = Tape(
        w=WIDTHS[run.dtype],
        training=run.training,
        past=run.past,
        kernel=run.kernel,
        accelerator=DEVICES[run.device],
        autocast=run.autocast,
        recompute=run.recompute,
        triangle=CONVENTIONS[run.causal],
    )
    shadow(config, tape, batch=run.batch, length=run.length, target_length=run.target_length)
    kept = tape.kept if run.training else []
    products = tape.products if run.training else [replace(entry, backward=0) for entry in tape.products]
    lists = (products, [e for e in kept if not e.again], [e for e in kept if e.again], tape.cached)
    by_part = [_by_part(entries) for entries in lists]
    return {part: Cost(part, *(tuple(found[part]) for found in by_part)) for part in tape.parts}


def _by_part(entries: list[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        found[entry.part].append(entry)
    return found
