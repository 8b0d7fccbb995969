"""What recording costs: a forward pass of GPT-2's size without recording and with one layer recorded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.bench.timing import device_here, interleaved, summary
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from glassformer.trace.record import record
from glassformer.words import say

LAYER = 5
SIZES = {"cpu": (1, 512, 20), "cuda": (8, 1024, 60)}  # batch, length, rounds
WAYS = {"weights": f"*.blocks.{LAYER}.*.weights", "everything": f"*.blocks.{LAYER}.*"}


def run() -> dict[str, Any]:
    """Records nothing, the attention weights of one layer, or all of one layer; the three take turns."""
    device = device_here()
    batch, length, rounds = SIZES[device]
    config = PRESETS["gpt2"]()
    model = build(config, seed=0, device=device, dtype=torch.bfloat16 if device == "cuda" else None).eval()
    assert config.vocab_size is not None
    tokens = torch.randint(config.vocab_size, (batch, length), device=device)
    passes: dict[str, Callable[[], object]] = {"nobody": partial(_forward, model, tokens)}
    passes |= {way: partial(_recorded, model, tokens, pattern) for way, pattern in WAYS.items()}
    seconds = interleaved(passes, rounds=rounds, device=device)
    base = seconds["nobody"]
    ratios = {
        way: summary([a / b for a, b in zip(times, base, strict=True)])
        for way, times in seconds.items()
        if way != "nobody"
    }
    return {"device": device, "batch": batch, "length": length, "layer": LAYER, "ratios": ratios}


def _forward(model: nn.Module, tokens: Tensor) -> Tensor:
    with torch.no_grad():
        return model(tokens)


def _recorded(model: nn.Module, tokens: Tensor, pattern: str) -> None:
    with record(model, pattern, layers=[LAYER]):
        _forward(model, tokens)


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Time with recording ÷ time without."""
    lines = [[say(f"columns.{key}", lang) for key in ("device", "what", "median", "spread")]]
    for way, ratio in numbers["ratios"].items():
        what = say(f"bench.recording_{way}", lang, layer=numbers["layer"])
        size = f"{numbers['device']}, {numbers['batch']}×{numbers['length']}"
        lines.append([size, what, f"{ratio['median']:.3f}", f"{ratio['low']:.3f} – {ratio['high']:.3f}"])
    return lines
