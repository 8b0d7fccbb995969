"""One training step of full size, measured: FLOPs as torch counts them, and peak bytes of all tensors.

Compared with what the ledger predicts for the same step.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from glassformer.config.model import ModelConfig
from glassformer.ledger.costs import Pass, costs
from glassformer.ledger.memory import memory
from glassformer.models.build import build, free_memory

MOST_FLOPS = 10**12  # of the largest step worth waiting for
STEPS = 3  # the optimiser has its state from the second on


@dataclass(frozen=True)
class MeasuredStep:
    """Predicted and measured; None: too large to measure here."""

    predicted_flops: int
    predicted_bytes: int
    measured_flops: int | None = None
    measured_bytes: int | None = None


def step(config: ModelConfig, size: Pass) -> MeasuredStep:
    """What the ledger predicts for a step of this size, and what a real one does on the CPU."""
    flops = sum(cost.forward + cost.backward for cost in costs(config, size).values())
    peak = memory(config, size).peak
    room = free_memory()
    if flops > MOST_FLOPS or (room is not None and 3 * peak > room):
        return MeasuredStep(flops, peak)
    return MeasuredStep(flops, peak, _flops(config, size), _bytes(config, size))


def _flops(config: ModelConfig, size: Pass) -> int:
    """FLOPs with the reference kernel: torch counts none for its own kernel on a CPU."""
    model = build(config, seed=0, kernel="reference").train()
    given = inputs(config, size)
    with FlopCounterMode(display=False) as counter:
        _loss(model(*given)).backward()
    return int(counter.get_total_flops())


def _bytes(config: ModelConfig, size: Pass) -> int:
    """Bytes alive before the step, plus the most that the step adds."""
    model = build(config, seed=0).train()
    optimizer = _optimizer(model, size.optimizer)
    given = inputs(config, size)
    for _ in range(STEPS - 1):
        _advance(model, optimizer, given)
    state: list[Any] = [value for values in optimizer.state.values() for value in values.values()]
    before = [*model.parameters(), *model.buffers(), *(value for value in state if isinstance(value, Tensor))]
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # otherwise it writes its own lines between ours
    cpu = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=cpu, profile_memory=True, acc_events=True) as profile:
        _advance(model, optimizer, given)
    alive = highest = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            alive += event.nbytes()
            highest = max(highest, alive)
    return sum({one.data_ptr(): one.nbytes for one in before}.values()) + highest


def _optimizer(model: nn.Module, name: str) -> torch.optim.Optimizer:
    """One that keeps what the ledger's optimiser of this name keeps; Adam and AdamW keep the same."""
    if name in ("sgd", "momentum"):
        return torch.optim.SGD(model.parameters(), momentum=0.9 if name == "momentum" else 0.0)
    return torch.optim.AdamW(model.parameters())


def _advance(model: nn.Module, optimizer: torch.optim.Optimizer, given: tuple[Tensor, ...]) -> None:
    _loss(model(*given)).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def _loss(output: Any) -> Tensor:
    """The cross-entropy of logits against some tokens; for other outputs a number that depends on all of it."""
    logits = output if isinstance(output, Tensor) else next(iter(output))
    if logits.dim() == 3:
        return F.cross_entropy(logits.flatten(0, 1), torch.zeros(logits.shape[:2], dtype=torch.long).flatten())
    return logits.float().square().mean()


def inputs(config: ModelConfig, size: Pass) -> tuple[Tensor, ...]:
    """An input of this size for the model."""
    options, kind = config.input.options, config.input.kind
    if kind == "tokens":
        source = torch.randint(config.vocab_size or 1, (size.batch, size.length))
    elif kind == "image":
        source = torch.randn(size.batch, options.get("channels", 3), options["size"], options["size"])
    else:
        source = torch.randn(size.batch, options.get("channels", 1), options["context"])
    if config.family != "encoder-decoder" or config.queries:
        return (source,)
    return source, torch.randint(config.output_vocab_size or 1, (size.batch, size.target_length or size.length))
