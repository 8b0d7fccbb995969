"""The weights of a run: chosen, checked bit for bit, and read from safetensors, never from a pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.errors import ConfigError, FileError, reason, warn
from glassformer.runs.folder import Run
from glassformer.runs.manifest import read_manifest, verify
from glassformer.runs.shards import SHARDED, has_average, read_shards, shard_files

if TYPE_CHECKING:
    from torch import Tensor, nn


WEIGHTS_FILE = "model.safetensors"
EMA = "ema.safetensors"
AUTO = "auto"
CHECKED_AT_ONCE = 1_000_000  # numbers


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file, on the CPU; of a checkpoint of several ranks, its weights put together."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if path.name == SHARDED:
        return read_shards(path.parent, "ema" if has_average(path.parent) else "model")
    try:
        return load_file(path)
    except SafetensorError as error:
        raise FileError("not_safetensors", path=path, why=str(error).splitlines()[0]) from error
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error


def weights_file(folder: Path) -> Path:
    """The file of weights to use, verified: the moving average if training kept one, else the weights themselves.

    Only this file is checked: a damaged optimiser state is no reason not to translate.
    """
    files = read_manifest(folder)
    if SHARDED in files:
        verify(folder, {SHARDED, *shard_files(folder, "model"), *shard_files(folder, "ema")})
        return folder / SHARDED
    name = EMA if EMA in files else WEIGHTS_FILE
    if name not in files:
        raise FileError("checkpoint_incomplete", path=folder, file=WEIGHTS_FILE)
    verify(folder, (name,))
    return folder / name


def read_weights(folder: Path) -> dict[str, Tensor]:
    return read_tensors(weights_file(folder))


def load_weights(model: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Load weights into a model; raises an error that names the first one that does not fit."""
    expected = model.state_dict()
    for name in sorted(expected.keys() | tensors.keys()):
        ours, theirs = _shape(expected.get(name)), _shape(tensors.get(name))
        if ours != theirs:
            raise FileError("weights_foreign", path=path, name=name, shape=theirs, expected=ours)
    model.load_state_dict(dict(tensors))


def check_finite_weight(name: str, x: Tensor, path: Path) -> None:
    """Raises for a NaN or infinite weight, which would make every answer NaN.

    One NaN or infinity makes the sum NaN or infinite, and a sum is read off twenty times faster than `isfinite`; only
    if it is not finite, which large numbers can cause too, is every number looked at. Counted in pieces: `isfinite`
    needs a copy of what it looks at, and a table of embeddings may be half of a model.
    """
    if x.detach().sum().isfinite():
        return
    rows = x if x.dim() else x[None]
    at_once = max(1, CHECKED_AT_ONCE * len(rows) // max(1, x.numel()))
    wrong = sum(piece.numel() - int(piece.isfinite().sum()) for piece in rows.split(at_once))
    if wrong:
        raise FileError("weights_not_finite", path=path, name=name, count=f"{wrong:,}", total=f"{x.numel():,}")


def _shape(x: Tensor | None) -> str:
    return "–" if x is None else "×".join(map(str, x.shape)) or "1"


def choose_weights(run: Run, which: str | int = AUTO) -> Path:
    """The file of the weights to use, whole. `which`: auto, averaged, best, last, or a step.

    auto tries the mean, the best, then the newest checkpoints in turn, and last tries the newest; a warning names each
    damaged one. The mean, the best or a step, if asked for, is never replaced by another.
    """
    refused: list[FileError] = []
    for folder in _candidates(run, which):
        try:
            found = weights_file(folder)
        except FileError as error:
            refused.append(error)
        else:
            for each in refused:
                warn("checkpoint_passed_over", instead=folder.name, why=reason(each))
            return found
    if refused:
        raise FileError("no_whole_checkpoint", path=run.folder, why=reason(refused[0]))
    raise FileError("no_checkpoint", path=run.folder)


def _candidates(run: Run, which: str | int) -> list[Path]:
    by_step = run.checkpoints_by_step()
    newest = [by_step[step] for step in sorted(by_step, reverse=True)]
    averaged = [run.averaged_folder] if run.averaged_folder.is_dir() else []
    best_step = _best_step(run, which)
    best = [by_step[best_step]] if best_step in by_step else []
    named = {AUTO: [*averaged, *best, *newest], "averaged": averaged, "best": best, "last": newest}
    if str(which) in named:
        found = named[str(which)]
    else:
        number = str(which).removeprefix("step-")
        found = [by_step[int(number)]] if number.isdecimal() and int(number) in by_step else []
        if not found:
            known = [*named, *map(str, sorted(by_step))]
            raise ConfigError("not_one_of", key="checkpoint", value=which, known=", ".join(known))
    if by_step and not found:
        raise FileError(
            "checkpoint_not_there", path=run.folder, which=which, steps=", ".join(map(str, sorted(by_step)))
        )
    return list(dict.fromkeys(found))


def _best_step(run: Run, which: str | int) -> int | None:
    """A damaged best.json matters only if the best is asked for: the weights themselves may be whole."""
    try:
        return run.best_step
    except FileError as error:
        if which == "best":
            raise
        if which == AUTO:
            warn("best_passed_over", why=reason(error))
        return None
