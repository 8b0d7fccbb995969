"""The ledger's peak memory against the accelerator's: training steps of two models, in two precisions."""

from __future__ import annotations

from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from glassformer.bench.timing import need_accelerator
from glassformer.ledger.costs import Pass
from glassformer.ledger.memory import memory
from glassformer.models.block import recompute
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from glassformer.words import say

SIZES = {"paper-base": (64, 128), "gpt2": (8, 1024)}  # batch, length


def run() -> dict[str, Any]:
    """Every model and precision, with and without recomputation, in step 3, when the optimiser has its state."""
    need_accelerator("peak-memory")
    rows = []
    for model, autocast, checkpointing in product(SIZES, (False, True), (False, True)):
        batch, length = SIZES[model]
        step = Pass(batch=batch, length=length, device="cuda", autocast=autocast, recompute=checkpointing)
        config = PRESETS[model]()
        found = memory(config, step)
        measured = _measure(config, step)
        rows.append(
            {"model": model, "batch": batch, "length": length, "autocast": autocast, "recompute": checkpointing}
            | {"predicted": found.peak, "at": found.at, "measured": measured}
        )
    return {"rows": rows}


def _measure(config: Any, step: Pass) -> int:
    """The peak of a step in bytes, as the allocator counts them."""
    model = recompute(build(config, seed=0, device="cuda"), step.recompute).train()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    shape = (step.batch, step.length)
    tokens = [torch.randint(config.vocab_size, shape, device="cuda") for _ in range(2)]
    given = tokens if config.family == "encoder-decoder" else tokens[:1]
    for _ in range(3):
        torch.cuda.reset_peak_memory_stats()
        _loss(model, given, tokens[1], step.autocast).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return torch.cuda.max_memory_allocated()


def _loss(model: Any, given: list[Tensor], targets: Tensor, autocast: bool) -> Tensor:
    with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
        return F.cross_entropy(model(*given).flatten(0, 1), targets.flatten())


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Predicted, measured, and the error."""
    titles = ("model", "step", "precision", "checkpointing", "predicted", "measured", "error")
    lines = [[say(f"columns.{key}", lang) for key in titles]]
    for row in numbers["rows"]:
        precision = "bfloat16 (autocast)" if row["autocast"] else "float32"
        checkpointing = say("bench.yes" if row["recompute"] else "bench.no", lang)
        error = f"{100 * (row['predicted'] / row['measured'] - 1):+.1f} %"
        amounts = [f"{row[key] / 2**30:.2f} GiB" for key in ("predicted", "measured")]
        lines.append([row["model"], f"{row['batch']}×{row['length']}", precision, checkpointing, *amounts, error])
    return lines
