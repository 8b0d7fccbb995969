"""Where a run was trained: versions, machine, threads. Resuming is exact bit for bit only if these are the same."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from glassformer.runs import Run
from glassformer.training.events import EnvironmentChanged
from glassformer.version import __version__

DECIDES = ("python", "torch", "numpy", "glassformer", "machine", "device", "threads", "ranks")


def environment(device: torch.device, *, ranks: int = 1) -> dict[str, Any]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "glassformer": __version__,
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count() or 1,
        "device": name,
        "threads": torch.get_num_threads(),
        "ranks": ranks,
        "command": sys.argv,
    }


def compare_environments(run: Run, device: torch.device, ranks: int) -> Iterator[EnvironmentChanged]:
    """Write down where this session runs; says what differs from the last one."""
    now = environment(device, ranks=ranks)
    changed = environment_differences(run.environment, now)
    run.write_environment(now)
    if changed:
        yield EnvironmentChanged(changed)


def environment_differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[object, object]]:
    """The differences that can change the bits of a result."""
    return {key: (before[key], now[key]) for key in DECIDES if key in before and before[key] != now[key]}
