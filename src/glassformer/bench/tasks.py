"""What each task reaches with its built-in default, trained from scratch; tested once, at the end."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from glassformer.bench.timing import device_here
from glassformer.config.recipe import RunConfig
from glassformer.loading import open_recipe
from glassformer.tasks.evaluation import evaluate
from glassformer.training.begin import begin
from glassformer.training.loop import train
from glassformer.words import say

SHARE, BITS, ERROR = "share", "bits", "error"
# recipe → metric, its path in the evaluation, the path of the value it is compared with, and its format
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
}
WRITTEN = {SHARE: lambda x: f"{100 * x:.2f} %", BITS: lambda x: f"{x:.3f}", ERROR: lambda x: f"{x:.4f}"}


def run() -> dict[str, Any]:
    """Trains every recipe from scratch, each on two cores, in parallel as far as there are pairs of cores.

    Takes about a quarter of an hour on two cores.
    """
    device = device_here()
    wanted = ON_ACCELERATOR if device == "cuda" else RUNS
    pairs = _pairs(sorted(os.sched_getaffinity(0)))
    context = get_context("spawn")
    free = context.Queue()
    for pair in pairs:
        free.put(pair)
    with ProcessPoolExecutor(len(pairs), mp_context=context, initializer=_settle, initargs=(free,)) as pool:
        return {"rows": list(pool.map(reached, wanted, repeat(device)))}


def _pairs(cores: list[int]) -> list[list[int]]:
    """The cores in pairs; a machine with one core gives that one."""
    return [cores[i : i + 2] for i in range(0, len(cores) - 1, 2)] or [cores]


def _settle(free: Any) -> None:
    """Pins a worker to a free pair of cores."""
    cores = free.get()
    os.sched_setaffinity(0, cores)
    torch.set_num_threads(len(cores))


def reached(recipe: str, device: str) -> dict[str, Any]:
    """Trains one recipe and evaluates its test part once: the metric and the value it is compared with."""
    metric, where, beside, form = (RUNS | ON_ACCELERATOR)[recipe]
    with tempfile.TemporaryDirectory() as folder:
        found, seconds = _trained(open_recipe(recipe, {"train.device": device}), Path(folder) / "run")
    row = {"recipe": recipe, "metric": metric, "form": form, "value": at(found, where), "seconds": seconds}
    return row | ({"beside": at(found, beside)} if beside else {})


def _trained(config: RunConfig, folder: Path) -> tuple[dict[str, Any], float]:
    start = time.perf_counter()
    for _ in train(begin(config, folder)):
        pass
    seconds = time.perf_counter() - start
    return evaluate(folder, "test").to_json(), seconds


def at(table: Mapping[str, Any], path: str) -> float:
    """The number at a path: "beside.persistence.mse"."""
    value: Any = table
    for key in path.split("."):
        value = value[key]
    return float(value)


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Recipe, metric, value, and the value to compare it with."""
    lines = [[say(f"columns.{key}", lang) for key in ("recipe", "task_result", "on_test", "beside")]]
    for row in numbers["rows"]:
        write = WRITTEN[row["form"]]
        beside = write(row["beside"]) + " " + say(f"beside.{row['recipe']}", lang) if "beside" in row else "–"
        lines.append([row["recipe"], say(f"reached.{row['metric']}", lang), write(row["value"]), beside])
    return lines
