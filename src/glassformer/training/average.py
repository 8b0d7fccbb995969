"""The mean of several checkpoints, §6.1: the paper averages the last 5 (base) or 20 (big)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from glassformer.errors import FileError
from glassformer.runs.manifest import verify
from glassformer.runs.weights import WEIGHTS_FILE, read_tensors
from glassformer.training.checkpoint import save_folder


def mean(weights: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    r"""w̄ = (1/n) Σ_i w_i, summed in float64; besides the sum, only one set of weights is in memory at a time."""
    total: dict[str, Tensor] = {}
    kinds: dict[str, torch.dtype] = {}
    n = 0
    for one in weights:
        n += 1
        for name, value in one.items():
            kinds[name] = value.dtype
            total[name] = value.double() if name not in total else total[name] + value
    return {name: (value / n).to(kinds[name]) for name, value in total.items()}


def average(checkpoints: Sequence[Path], folder: Path) -> dict[str, Tensor]:
    """Write the mean of these checkpoints as a folder with a manifest; return the weights."""
    if not checkpoints:
        raise FileError("nothing_to_average", path=folder)
    for path in checkpoints:
        verify(path, (WEIGHTS_FILE,))
    weights = mean(read_tensors(path / WEIGHTS_FILE) for path in checkpoints)
    save_folder(folder, {WEIGHTS_FILE: weights}, {"of": [path.name for path in checkpoints]})
    return weights
