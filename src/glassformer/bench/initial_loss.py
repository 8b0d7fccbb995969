"""The loss before the first step: ln V for an even guess, plus what the initialisation adds."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import torch

from glassformer.losses import cross_entropy
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from glassformer.words import say

VOCABULARY, BATCH, LENGTH = 32_000, 8, 24
RULES = ("paper", "normal")


def run() -> dict[str, Any]:
    """The paper's base model with tied embeddings, under two rules and both orders of the norm, on random tokens."""
    rows = []
    for init, order in product(RULES, ("post", "pre")):
        config = replace(PRESETS["paper-base"](), vocab_size=VOCABULARY, init=init, norm_order=order)
        model = build(config, seed=0).eval()
        torch.manual_seed(0)
        source, target, labels = (torch.randint(4, VOCABULARY, (BATCH, LENGTH)) for _ in range(3))
        with torch.no_grad():
            logits = model(source, target)
        loss = float(cross_entropy(logits, labels).mean)
        rows.append({"init": init, "norm_order": order, "loss": loss, "deviation": float(logits.std())})
    return {"vocab_size": VOCABULARY, "rows": rows}


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """The loss against ln V, and the standard deviation σ of the logits: the excess over ln V is about σ²/2."""
    least = math.log(numbers["vocab_size"])
    titles = ("rule", "norm_order", "deviation", "initial_loss", "against_ln_v")
    lines = [[say(f"columns.{key}", lang) for key in titles]]
    for row in numbers["rows"]:
        excess = f"{100 * (row['loss'] / least - 1):+.1f} %"
        lines.append([row["init"], row["norm_order"], f"{row['deviation']:.2f}", f"{row['loss']:.2f}", excess])
    return lines
