"""What each task reaches with its built-in default, trained from scratch; the test part is read once, at the end."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from glassformer.evaluate.evaluation import evaluate
from glassformer.open import open_recipe
from glassformer.recipe import RunConfig
from glassformer.train.begin import begin
from glassformer.train.loop import train
from glassformer.words import say

SHARE, BITS, ERROR = "share", "bits", "error"
# recipe → what is reported of its evaluation, where it stands there, what stands beside it, and how it is written
RUNS: dict[str, tuple[str, str, str, str]] = {
    "sentiment": ("accuracy", "accuracy", "majority", SHARE),
    "fill": ("determined", "determined", "", SHARE),
    "characters": ("bits_per_character", "bits_per_character", "n_gram.bits_per_character", BITS),
    "digits": ("accuracy", "accuracy", "majority", SHARE),
    "prices": ("mse", "mse", "beside.persistence.mse", ERROR),
    "object-queries": ("found", "found.value", "", SHARE),
}
ON_ACCELERATOR: dict[str, tuple[str, str, str, str]] = {
    "nsmc": ("accuracy", "accuracy", "majority", SHARE),
    "fashion-mnist": ("accuracy", "accuracy", "majority", SHARE),
    "etth1-96": ("mse", "mse", "beside.dlinear.mse", ERROR),
}
WRITTEN = {SHARE: lambda x: f"{100 * x:.2f} %", BITS: lambda x: f"{x:.3f}", ERROR: lambda x: f"{x:.4f}"}


def run() -> dict[str, Any]:
    """Every recipe, one after another: about a quarter of an hour on two cores."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows = []
    for recipe, (metric, where, beside, form) in (ON_ACCELERATOR if device == "cuda" else RUNS).items():
        with tempfile.TemporaryDirectory() as folder:
            found, seconds = _trained(open_recipe(recipe, {"train.device": device}), Path(folder) / "run")
        row = {"recipe": recipe, "metric": metric, "form": form, "value": at(found, where), "seconds": seconds}
        rows.append(row | ({"beside": at(found, beside)} if beside else {}))
    return {"rows": rows}


def _trained(config: RunConfig, folder: Path) -> tuple[dict[str, Any], float]:
    start = time.perf_counter()
    for _ in train(begin(config, folder)):
        pass
    seconds = time.perf_counter() - start
    return evaluate(folder, "test").to_json(), seconds


def at(table: Mapping[str, Any], path: str) -> float:
    """A number inside of tables: "beside.persistence.mse"."""
    value: Any = table
    for key in path.split("."):
        value = value[key]
    return float(value)


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Recipe, metric, value, and what it has to be compared with."""
    lines = [[say(f"columns.{key}", lang) for key in ("recipe", "measured", "on_test", "beside")]]
    for row in numbers["rows"]:
        write = WRITTEN[row["form"]]
        beside = write(row["beside"]) + " " + say(f"beside.{row['recipe']}", lang) if "beside" in row else "–"
        lines.append([row["recipe"], say(f"reached.{row['metric']}", lang), write(row["value"]), beside])
    return lines
