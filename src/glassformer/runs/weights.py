"""The weights in a folder with a manifest: checked bit for bit, read from safetensors, never from a pickle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.errors import FileError
from glassformer.runs.manifest import read_manifest, verify

if TYPE_CHECKING:
    from torch import Tensor

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


def read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights to use: the moving average where training kept one, else the weights as they were."""
    verify(folder)
    files = read_manifest(folder)
    name = EMA if EMA in files else MODEL
    if name not in files:
        raise FileError("checkpoint_incomplete", path=folder, file=MODEL)
    return read_tensors(folder / name)
