"""Fair timing: the candidates take turns in one run; each is reported by its median and spread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import torch


def device_here() -> str:
    """The accelerator if there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def interleaved(
    candidates: Mapping[str, Callable[[], object]], *, rounds: int, warm_up: int = 3, device: str = "cpu"
) -> dict[str, list[float]]:
    """Seconds of each of `rounds` calls per candidate, taken in turn: a, b, c, a, b, c …"""
    for call in candidates.values():
        for _ in range(warm_up):
            call()
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, call in candidates.items():
            _wait(device)
            start = time.perf_counter()
            call()
            _wait(device)
            seconds[name].append(time.perf_counter() - start)
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
