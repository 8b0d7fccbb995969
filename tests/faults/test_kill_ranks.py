from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from glassformer.runs import Run, read_weights
from glassformer.runs.manifest import sha256, verify
from once import once

SCRIPT = Path(__file__).with_name("killed_pairs.py")


def killed_pairs(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder)],
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert ran.returncode == 0, ran.stderr[-3000:]


def content(path: Path) -> dict[str, bytes]:
    """The bytes of every tensor; in which order a file of several ranks holds them is torch's affair."""
    return {name: x.reshape(-1).view(torch.uint8).numpy().tobytes() for name, x in load_file(path).items() if x.numel()}


def lines(run: Run) -> list[dict[str, Any]]:
    times = ("tokens_per_second", "elapsed")
    return [{key: value for key, value in line.items() if key not in times} for line in run.log.read()]


@pytest.mark.slow
@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_two_ranks_killed_anywhere_go_on_bit_for_bit(parallel: str) -> None:
    """First F6 for ranks: both at once or one of them, some inside a save; the checkpoint of an uninterrupted run."""
    folder = once("killed-pairs", killed_pairs)
    found = json.loads((folder / "found.json").read_text())[parallel]
    assert found["deaths"] >= 5 and found["saving"] >= 2 and found["alone"] >= 1, found
    assert found["whole"] == found["last"] == 0
    whole, killed = (Run.open(folder / parallel / name) for name in ("whole", "killed"))
    assert [path.name for path in killed.checkpoints] == [path.name for path in whole.checkpoints]
    assert whole.last is not None and killed.last is not None
    for path in killed.checkpoints:
        verify(path)
    names = sorted(path.name for path in whole.last.iterdir() if path.suffix == ".safetensors")
    assert names == sorted(path.name for path in killed.last.iterdir() if path.suffix == ".safetensors")
    assert any(name.startswith("shard-00002") for name in names) == (parallel == "fsdp")
    for name in names:
        assert content(killed.last / name) == content(whole.last / name), name
    assert sha256(killed.averaged_folder / "model.safetensors") == sha256(whole.averaged_folder / "model.safetensors")
    assert lines(killed) == lines(whole)
    assert not list(killed.folder.rglob(".tmp-*"))


@pytest.mark.slow
@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_on_another_number_of_ranks_it_goes_on_as_it_would_have(parallel: str) -> None:
    """First F6: two ranks, one, two again, and by FSDP instead of DDP or the other way round: the same samples in the
    same order, losses to 1e-12 in float64."""
    place = once("killed-pairs", killed_pairs) / parallel / "worlds"
    assert json.loads((place.parent.parent / "found.json").read_text())[parallel]["failed"] == 0
    whole, changed = (Run.open(place / name) for name in ("whole", "changed"))
    assert len(lines(whole)) == len(lines(changed)) > 30
    for one, other in zip(lines(whole), lines(changed), strict=True):
        assert one.keys() == other.keys() and (one["step"], one["kind"]) == (other["step"], other["kind"])
        numbers = [key for key, value in one.items() if isinstance(value, float)]
        assert [other[key] for key in numbers] == pytest.approx([one[key] for key in numbers], rel=1e-12)
        assert other.get("tokens") == one.get("tokens")
    assert whole.last is not None and changed.last is not None
    ours, theirs = read_weights(whole.last), read_weights(changed.last)
    assert ours.keys() == theirs.keys()
    assert max(float((ours[name] - theirs[name]).abs().max()) for name in ours) < 1e-12
