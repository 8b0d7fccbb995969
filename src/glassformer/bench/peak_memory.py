"""The ledger's peak memory against the accelerator's: training steps of two models, in two precisions.

The steps are those of `glassformer train`, captured, compiled or not; with activation checkpointing they are computed
one by one, as a loop of one's own would.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from typing import Any

import torch

from glassformer.bench.gpt_step import writing
from glassformer.bench.our_step import FIRST_CALLS, our_step
from glassformer.bench.timing import alone, need_accelerator, warmed
from glassformer.bench.training_step import translating
from glassformer.config.model import ModelConfig
from glassformer.config.recipe import TrainConfig
from glassformer.data.batch import Batch, PairBatch
from glassformer.data.stream import StreamBatch
from glassformer.ledger.costs import Pass
from glassformer.ledger.memory import memory
from glassformer.models.presets import PRESETS
from glassformer.tasks import Task
from glassformer.words import say

AT_ONCE = 4  # steps that are compiled and measured side by side
SIZES = {"paper-base": (64, 128), "gpt2": (8, 1024)}  # batch, length


def run() -> dict[str, Any]:
    """Every model and precision, with and without recomputation, from the first step to the first that is replayed."""
    need_accelerator("peak-memory")
    rows = [
        {"model": model, "batch": batch, "length": length, "autocast": autocast, "recompute": checkpointing}
        for (model, (batch, length)), autocast, checkpointing in product(SIZES.items(), (False, True), (False, True))
    ]
    free, _ = torch.cuda.mem_get_info()
    room = free // (2 * max(map(predicted, rows)))  # for how many processes; their memory is their own
    with ThreadPoolExecutor(max(1, min(AT_ONCE, room))) as threads:
        peaks = threads.map(lambda row: measured(*_step(row)), rows)
        return {"rows": [row | {"measured": peak} for row, peak in zip(rows, peaks, strict=True)]}


def predicted(row: Mapping[str, Any]) -> int:
    """Not recorded: a table compares what was measured with what the ledger says today."""
    return memory(*_step(row)).peak


def _step(row: Mapping[str, Any]) -> tuple[ModelConfig, Pass]:
    """The model of a row and its step."""
    sizes = {name: row[name] for name in ("batch", "length", "autocast", "recompute")}
    return PRESETS[row["model"]](), Pass(**sizes, device="cuda")


def measured(config: ModelConfig, step: Pass) -> int:
    """The peak of a step in bytes, as the allocator counts them, in a process of its own.

    Counted is what is added to what was there before; if some of that is freed meanwhile, the count is too small.
    """
    return alone(_peak, config, step)


def _peak(config: ModelConfig, step: Pass) -> int:
    task, batch = work_of(config, step)
    make = partial(our_step, config, task, batch, TrainConfig(), device="cuda", compiled=step.compiled)
    precision = "bf16" if step.autocast else "float32"
    _, peak = warmed(partial(make, precision=precision, again=step.recompute), calls=FIRST_CALLS, device="cuda")
    assert peak is not None
    return peak


def work_of(config: ModelConfig, step: Pass) -> tuple[Task[Any], Batch]:
    """A batch of random tokens, and the task that learns from it."""
    rows = torch.randint(config.output_vocab_size or 1, (step.batch, step.length + 1), device="cuda")
    source, targets = rows[:, :-1].contiguous(), rows[:, 1:].contiguous()
    if config.family == "encoder-decoder":
        return translating(), PairBatch(source, None, source, targets, targets.numel())
    return writing(step.length), StreamBatch(rows, targets.numel())


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Predicted, measured, and the error."""
    titles = ("model", "step", "precision", "checkpointing", "predicted", "measured", "error")
    lines = [[say(f"columns.{key}", lang) for key in titles]]
    for row in numbers["rows"]:
        precision = "bfloat16 (autocast)" if row["autocast"] else "float32"
        checkpointing = say("bench.yes" if row["recompute"] else "bench.no", lang)
        peaks = predicted(row), row["measured"]
        error = f"{100 * (peaks[0] / peaks[1] - 1):+.1f} %"
        amounts = [f"{peak / 2**30:.2f} GiB" for peak in peaks]
        lines.append([row["model"], f"{row['batch']}×{row['length']}", precision, checkpointing, *amounts, error])
    return lines
