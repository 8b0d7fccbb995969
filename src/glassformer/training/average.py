"""The mean of several checkpoints, §6.1: the paper averages the last 5 (base) or 20 (big)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from glassformer.config.recipe import TrainConfig
from glassformer.errors import FileError
from glassformer.runs import Run
from glassformer.runs.manifest import verify
from glassformer.runs.shards import is_sharded, read_shards, shard_files
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


def to_average(run: Run, config: TrainConfig) -> tuple[int, ...]:
    """The last steps whose checkpoints were due, the same in a run that was interrupted; none if that was done."""
    if run.averaged and any(record["kind"] == "averaged" for record in run.log.read()):
        return ()
    due = sorted(step for step in run.checkpoints_by_step() if step % config.save_every == 0)
    return tuple(due[-config.average :])


def average(checkpoints: Sequence[Path], folder: Path) -> dict[str, Tensor]:
    """Write the mean of these checkpoints as a folder with a manifest; return the weights."""
    if not checkpoints:
        raise FileError("nothing_to_average", path=folder)
    for path in checkpoints:
        verify(path, shard_files(path, "model") if is_sharded(path) else (WEIGHTS_FILE,))
    weights = mean(map(_weights, checkpoints))
    save_folder(folder, {WEIGHTS_FILE: weights}, {"of": [path.name for path in checkpoints]})
    return weights


def _weights(checkpoint: Path) -> dict[str, Tensor]:
    """Those that were trained, not their moving average."""
    return read_shards(checkpoint, "model") if is_sharded(checkpoint) else read_tensors(checkpoint / WEIGHTS_FILE)
