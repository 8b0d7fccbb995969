"""Reproducible randomness: one seed for all generators, their states saved and restored, deterministic kernels."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor


def seed_all(seed: int) -> None:
    """Seed Python, numpy, torch and every accelerator."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def seed_rank(seed: int, step: int, rank: int) -> None:
    """Seed the generators of a rank of which nothing is known, so that it drops out other numbers than all others."""
    first, second = np.random.SeedSequence([seed, step, rank]).generate_state(2)
    seed_all(int(first) << 31 | int(second) >> 1)


def of_all_ranks(states: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The states of the generators of several ranks under one name each: "torch" of rank 0, "1.torch" of rank 1."""
    return {f"{rank}.{name}" if rank else name: x for rank, one in enumerate(states) for name, x in one.items()}


def of_rank(states: Mapping[str, Tensor], rank: int) -> dict[str, Tensor]:
    """Those of one rank; empty if it was not there."""
    if rank:
        return {name.partition(".")[2]: x for name, x in states.items() if name.partition(".")[0] == str(rank)}
    return {name: x for name, x in states.items() if not name.partition(".")[0].isdecimal()}


def random_state(device: torch.device) -> dict[str, Tensor]:
    """The states of all generators as tensors, so that they can be saved without a pickle."""
    version, numbers, gauss = random.getstate()
    name, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    assert version == 3 and name == "MT19937"
    state = {
        "python": torch.tensor(numbers, dtype=torch.int64),
        "python.gauss": torch.tensor([] if gauss is None else [gauss], dtype=torch.float64),
        "numpy": torch.tensor([*map(int, keys), position, has_gauss], dtype=torch.int64),
        "numpy.gauss": torch.tensor([cached], dtype=torch.float64),
        "torch": torch.get_rng_state(),
    }
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def set_random_state(state: Mapping[str, Tensor], device: torch.device) -> None:
    """Restore the states of all generators."""
    gauss = state["python.gauss"].tolist()
    random.setstate((3, tuple(state["python"].tolist()), gauss[0] if gauss else None))
    *keys, position, has_gauss = state["numpy"].tolist()
    cached = float(state["numpy.gauss"][0])
    np.random.set_state(("MT19937", np.array(keys, dtype=np.uint32), position, has_gauss, cached))
    torch.set_rng_state(state["torch"].cpu())
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"].cpu(), device)


@contextmanager
def kept_random_state(device: torch.device) -> Iterator[None]:
    """Restore the generators afterwards, so that evaluating more often does not change training."""
    before = random_state(device)
    try:
        yield
    finally:
        set_random_state(before, device)


@contextmanager
def settings(*, deterministic: bool, threads: int | None) -> Iterator[None]:
    """Inside, set the number of threads, and allow only kernels that give the same bits every time.

    An operation without such a kernel then raises.
    """
    before = torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()
    try:
        if deterministic:
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            torch.use_deterministic_algorithms(True)
        if threads is not None:
            torch.set_num_threads(threads)
        yield
    finally:
        if deterministic:  # loads torch's compiler, to tell it: seconds that others need not spend
            torch.use_deterministic_algorithms(before[0])
        torch.set_num_threads(before[1])
