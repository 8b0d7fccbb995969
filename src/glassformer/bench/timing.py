"""Fair timing: the candidates take turns in one run; each is reported by its median and spread.

What they are measured against, the rate of a large matrix product, is measured in the same run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

import torch

from glassformer.errors import ConfigError
from glassformer.ledger.devices import product_rate

Result = TypeVar("Result")

PRECISIONS = {"cpu": "float32", "cuda": "bf16"}  # of a training step
MATMUL = {"cpu": "highest", "cuda": "high"}  # for both sides: products of float32, of which bf16 leaves few
PRODUCTS = {"cpu": "float32", "cuda": "bfloat16"}  # the type that its products have


def device_here() -> str:
    """The accelerator if there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def need_accelerator(name: str) -> None:
    """Raises where there is none: the benchmark would measure something else."""
    if not torch.cuda.is_available():
        raise ConfigError("needs_accelerator", name=name)


def ceiling(device: str) -> float:
    """FLOP/s of a large matrix product in the type of a training step."""
    return product_rate(device, PRODUCTS[device])


def warmed(
    make: Callable[[], Callable[[], object]], *, calls: int, device: str
) -> tuple[Callable[[], object], int | None]:
    """A candidate after its first calls, and the most memory that it took: weights, optimiser and all of a step.

    Counted is what the allocator gave out beyond what was there before; None where there is no accelerator.
    """
    before = 0
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    call = make()
    for _ in range(calls):
        call()
    _wait(device)
    return call, torch.cuda.max_memory_allocated() - before if device == "cuda" else None


def alone(call: Callable[..., Result], *given: object) -> Result:
    """The result of a call in a process of its own, where nothing that came before holds memory or sets anything."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(call, *given).result()


def interleaved(
    candidates: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    calls: int = 1,
    warm_up: int = 3,
    device: str = "cpu",
) -> dict[str, list[float]]:
    """Seconds of a call in each of `rounds` turns per candidate, taken one after the other: a, b, c, a, b, c …

    A turn is `calls` calls between two waits for the device. Training does not wait for the device after each step: it
    launches the next one meanwhile. So a step that is waited for pays for its launch, which in training is hidden; with
    several in a turn every candidate pays for one launch only.
    """
    for call in candidates.values():
        for _ in range(warm_up):
            call()
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, call in candidates.items():
            _wait(device)
            start = time.perf_counter()
            for _ in range(calls):
                call()
            _wait(device)
            seconds[name].append((time.perf_counter() - start) / calls)
    return seconds


def summary(seconds: list[float]) -> dict[str, float]:
    """The median, with the quartiles as its spread."""
    low, middle, high = statistics.quantiles(seconds, n=4)
    return {"median": middle, "low": low, "high": high}


def spread(seconds: Mapping[str, float], base: float) -> str:
    """The quartiles relative to a base: "0.97 – 1.04"."""
    return f"{seconds['low'] / base:.2f} – {seconds['high'] / base:.2f}"


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()
