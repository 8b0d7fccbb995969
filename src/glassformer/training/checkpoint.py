"""Checkpoints: a folder written under another name, synced, checked off in a manifest, then renamed.

A kill at any moment leaves the whole checkpoint or the one before; a damaged or foreign one is refused, never repaired.
Where every rank has the whole model, rank 0 writes it; where it is cut over the ranks (FSDP), each writes its shards.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor, nn

from glassformer.errors import FileError
from glassformer.files import TEMPORARY, disk, read_json, remove_folder, remove_leftovers, sync, write_json
from glassformer.ranks import ALONE, Ranks
from glassformer.runs import Run, verify, write_manifest
from glassformer.runs.shards import (
    describe_shards,
    fill_from_shards,
    has_average,
    is_sharded,
    read_shards,
    shapes_in,
    write_shards,
)
from glassformer.runs.weights import EMA, WEIGHTS_FILE, read_tensors
from glassformer.training.parallel import lying, room_for

OPTIMIZER = "optimizer.safetensors"
RANDOM = "random.safetensors"  # the generators of all ranks: "torch" of rank 0, "1.torch" of rank 1
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

    def save(self, folder: Path, ranks: Ranks = ALONE, *, cut: bool = False) -> None:
        """Write it; all ranks call this. `cut`: the tensors are shares of each rank's own."""
        files = {WEIGHTS_FILE: self.model, OPTIMIZER: self.optimizer, RANDOM: self.random}
        if self.ema is not None:
            files[EMA] = self.ema
        if cut:
            self._save_shards(folder, ranks)
            return
        ranks.from_first(lambda: save_folder(folder, files, self.state))

    def _save_shards(self, folder: Path, ranks: Ranks) -> None:
        """Every rank writes into the draft; rank 0 makes it, checks it off and renames it when all are done."""
        draft = draft_of(folder)
        ranks.from_first(lambda: _begin_draft(draft))
        try:
            with disk(folder), ranks.within_reach():
                write_shards(draft, self._kinds)
            ranks.wait()
            ranks.from_first(lambda: self._finish_shards(draft, folder, ranks))
        except BaseException:
            if ranks.first:
                shutil.rmtree(draft, ignore_errors=True)
            raise

    @property
    def _kinds(self) -> dict[str, Mapping[str, Tensor]]:
        kinds = {"model": self.model, "optimizer": self.optimizer, "random": self.random}
        return kinds if self.ema is None else {**kinds, "ema": self.ema}

    def _finish_shards(self, draft: Path, folder: Path, ranks: Ranks) -> None:
        with disk(folder):
            describe_shards(draft, self._kinds, ranks.world)
            write_json(draft / STATE, self.state)
            _finish_draft(draft, folder, sharded=True)

    @classmethod
    def read(cls, folder: Path) -> Checkpoint:
        """Read a checkpoint after verifying every file against the manifest."""
        return cls.of_files(folder, read_state(folder))

    @classmethod
    def of_files(cls, folder: Path, state: Mapping[str, Any]) -> Checkpoint:
        return cls(
            model=read_tensors(folder / WEIGHTS_FILE),
            optimizer=read_tensors(folder / OPTIMIZER),
            random=read_tensors(folder / RANDOM),
            state=state,
            ema=read_tensors(folder / EMA) if (folder / EMA).is_file() else None,
        )


def open_checkpoint(folder: Path, state: Mapping[str, Any], model: nn.Module) -> Checkpoint:
    """The tensors of a verified checkpoint as they lie here: whole, or this rank's shares of them."""
    weights, parameters = model.state_dict(), dict(model.named_parameters())

    def parameter(name: str) -> Tensor | None:  # exp_avg:encoder.blocks.0.feed_forward.w_1.weight
        return parameters.get(name.partition(":")[2])

    if not is_sharded(folder):
        made = Checkpoint.of_files(folder, state)
        return replace(
            made,
            model=lying(made.model, weights.get),
            optimizer=lying(made.optimizer, parameter),
            ema=None if made.ema is None else lying(made.ema, weights.get),
        )

    def read(kind: str, like: Callable[[str], Tensor | None]) -> dict[str, Tensor]:
        tensors = {name: room_for(*form, like(name)) for name, form in shapes_in(folder, kind).items()}
        fill_from_shards(folder, kind, tensors)
        return tensors

    return Checkpoint(
        model=read("model", weights.get),
        optimizer=read("optimizer", parameter),
        random=read_shards(folder, "random"),
        state=state,
        ema=read("ema", weights.get) if has_average(folder) else None,
    )


def read_state(folder: Path) -> dict[str, Any]:
    """The values of a checkpoint that are no tensors, after verifying every file against the manifest."""
    verify(folder)
    state = read_json(folder / STATE) if (folder / STATE).is_file() else None
    needed = () if is_sharded(folder) else (WEIGHTS_FILE, OPTIMIZER, RANDOM)
    if not isinstance(state, dict) or not all((folder / name).is_file() for name in needed):
        raise FileError("checkpoint_incomplete", path=folder, file=STATE)
    return state


def save_folder(folder: Path, files: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, Any]) -> None:
    """Write tensors, state and a manifest; if it fails, on a full disk for example, nothing is left behind."""
    draft = draft_of(folder)
    try:
        _begin_draft(draft)
        with disk(folder):
            for name, tensors in files.items():
                _write_tensors(draft / name, tensors)
            write_json(draft / STATE, state)
            _finish_draft(draft, folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def draft_of(folder: Path) -> Path:
    return folder.with_name(TEMPORARY + folder.name)


def _begin_draft(draft: Path) -> None:
    with disk(draft):
        shutil.rmtree(draft, ignore_errors=True)  # left by a save that was killed
        draft.mkdir(parents=True)


def _finish_draft(draft: Path, folder: Path, *, sharded: bool = False) -> None:
    write_manifest(draft, sharded=sharded)
    sync(draft)
    if folder.exists():
        remove_folder(folder)
    draft.rename(folder)
    sync(folder.parent)


def _write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    try:
        save_file({name: x.detach().contiguous() for name, x in tensors.items()}, path)
    except SafetensorError as error:  # how safetensors reports an error of the disk
        raise OSError(errno.EIO, str(error).splitlines()[0]) from error


def clean(run: Run, *, resume: bool) -> tuple[str, ...]:
    """Remove what a killed process left half written, and name it; refuses to begin where there is a run already."""
    if not resume and run.checkpoints_by_step():
        raise FileError("run_exists", path=run.folder)
    return tuple(remove_leftovers(run.checkpoints_folder) + remove_leftovers(run.folder))


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
