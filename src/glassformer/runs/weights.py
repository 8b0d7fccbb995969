"""The weights in a folder with a manifest: checked bit for bit, read from safetensors, never from a pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.errors import FileError
from glassformer.runs.manifest import read_manifest, verify

if TYPE_CHECKING:
    from torch import Tensor, nn

MODEL = "model.safetensors"
EMA = "ema.safetensors"


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file, on the CPU."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except SafetensorError as error:
        raise FileError("not_safetensors", path=path, why=str(error).splitlines()[0]) from error
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error


def weights_file(folder: Path) -> Path:
    """The weights to use, whole: the moving average where training kept one, else the weights as they were.

    Only this file is judged: damage to the optimiser's is no reason not to translate.
    """
    files = read_manifest(folder)
    name = EMA if EMA in files else MODEL
    if name not in files:
        raise FileError("checkpoint_incomplete", path=folder, file=MODEL)
    verify(folder, (name,))
    return folder / name


def read_weights(folder: Path) -> dict[str, Tensor]:
    return read_tensors(weights_file(folder))


def load_weights(model: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Weights into a model that has exactly these, or a line that names the first that does not fit."""
    expected = model.state_dict()
    for name in sorted(expected.keys() | tensors.keys()):
        ours, theirs = _shape(expected.get(name)), _shape(tensors.get(name))
        if ours != theirs:
            raise FileError("weights_foreign", path=path, name=name, shape=theirs, expected=ours)
    model.load_state_dict(dict(tensors))


def check_finite(name: str, x: Tensor, path: Path) -> None:
    """A weight that is NaN or infinite makes every answer so: it is named before anybody asks for one."""
    wrong = x.numel() - int(x.isfinite().sum())
    if wrong:
        raise FileError("weights_not_finite", path=path, name=name, count=f"{wrong:,}", total=f"{x.numel():,}")


def _shape(x: Tensor | None) -> str:
    return "–" if x is None else "×".join(map(str, x.shape)) or "1"
