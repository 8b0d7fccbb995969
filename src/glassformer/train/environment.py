"""Where a run was trained: versions, machine, threads. A resumed run is the same bit for bit only where this is."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from glassformer.errors import ConfigError
from glassformer.recipe import TrainConfig
from glassformer.version import __version__

DECIDES = ("python", "torch", "numpy", "glassformer", "machine", "device", "threads", "ranks")


def choose_device(config: TrainConfig) -> torch.device:
    """`auto`: the accelerator if there is one."""
    if config.device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    known = ["auto", "cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    if config.device not in known and not (config.device == "cuda" and len(known) > 2):
        raise ConfigError("unknown_device", value=config.device, known=", ".join(known))
    return torch.device(config.device)


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


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[object, object]]:
    """What has changed of all that decides on the bits."""
    return {key: (before[key], now[key]) for key in DECIDES if key in before and before[key] != now[key]}
