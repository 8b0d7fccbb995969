"""Checkpoints: a folder written under another name, synced, checked off in a manifest, then renamed.

A kill at any moment leaves the whole checkpoint or the one before; a damaged or foreign one is refused, never repaired.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from glassformer.errors import FileError
from glassformer.files import TEMPORARY, disk, read_json, remove_folder, sync, write_json
from glassformer.runs import Run, verify, write_manifest
from glassformer.runs.weights import EMA, WEIGHTS_FILE, read_tensors

OPTIMIZER = "optimizer.safetensors"
RANDOM = "random.safetensors"
STATE = "state.json"
REFUSED = "refused-"


@dataclass(frozen=True)
class Checkpoint:
    """Everything needed to resume training: tensors, and values that fit into JSON."""

    model: Mapping[str, Tensor]
    optimizer: Mapping[str, Tensor]
    random: Mapping[str, Tensor]
    state: Mapping[str, Any]
    ema: Mapping[str, Tensor] | None = None

    def save(self, folder: Path) -> None:
        files = {WEIGHTS_FILE: self.model, OPTIMIZER: self.optimizer, RANDOM: self.random}
        if self.ema is not None:
            files[EMA] = self.ema
        save_folder(folder, files, self.state)

    @classmethod
    def read(cls, folder: Path) -> Checkpoint:
        """Read a checkpoint after verifying every file against the manifest."""
        verify(folder)
        state = read_json(folder / STATE) if (folder / STATE).is_file() else None
        if not isinstance(state, dict) or not all(
            (folder / name).is_file() for name in (WEIGHTS_FILE, OPTIMIZER, RANDOM)
        ):
            raise FileError("checkpoint_incomplete", path=folder, file=STATE)
        return cls(
            model=read_tensors(folder / WEIGHTS_FILE),
            optimizer=read_tensors(folder / OPTIMIZER),
            random=read_tensors(folder / RANDOM),
            state=state,
            ema=read_tensors(folder / EMA) if (folder / EMA).is_file() else None,
        )


def save_folder(folder: Path, files: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, Any]) -> None:
    """Write tensors, state and a manifest; if it fails, on a full disk for example, nothing is left behind."""
    draft = folder.with_name(TEMPORARY + folder.name)
    try:
        with disk(folder):
            shutil.rmtree(draft, ignore_errors=True)  # left by a save that was killed
            draft.mkdir(parents=True)
            for name, tensors in files.items():
                _write_tensors(draft / name, tensors)
            write_json(draft / STATE, state)
            write_manifest(draft)
            sync(draft)
            if folder.exists():
                remove_folder(folder)
            draft.rename(folder)
            sync(folder.parent)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    try:
        save_file({name: x.detach().contiguous() for name, x in tensors.items()}, path)
    except SafetensorError as error:  # how safetensors reports an error of the disk
        raise OSError(errno.EIO, str(error).splitlines()[0]) from error


def retire(run: Run, *, keep: int, every: int, best: int | None) -> None:
    """Keep the last `keep` regular checkpoints, the very last and the best; remove the others."""
    by_step = run.checkpoints_by_step()
    due = sorted(step for step in by_step if step % every == 0)
    kept = {*due[-keep:], max(by_step, default=0), best}
    for step, path in by_step.items():
        if step not in kept:
            remove_folder(path)


def set_aside(path: Path) -> None:
    """Rename a refused checkpoint, so that it is no longer found as one but its files are kept."""
    aside = path.with_name(REFUSED + path.name)
    with disk(path):
        shutil.rmtree(aside, ignore_errors=True)
        path.rename(aside)
