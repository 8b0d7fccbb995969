from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from glassformer.errors import FileError
from glassformer.runs import read_weights, write_manifest
from glassformer.runs.weights import read_tensors


def folder(tmp_path: Path, **files: float) -> Path:
    for name, value in files.items():
        save_file({"weight": torch.tensor([value])}, tmp_path / f"{name}.safetensors")
    write_manifest(tmp_path)
    return tmp_path


def test_the_weights_of_a_checkpoint(tmp_path: Path) -> None:
    assert read_weights(folder(tmp_path, model=1.0)) == {"weight": torch.tensor([1.0])}


def test_the_moving_average_is_preferred(tmp_path: Path) -> None:
    assert read_weights(folder(tmp_path, model=1.0, ema=2.0)) == {"weight": torch.tensor([2.0])}


def test_an_altered_file_is_not_read(tmp_path: Path) -> None:
    path = folder(tmp_path, model=1.0) / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileError, match="is not what was written"):
        read_weights(tmp_path)


def test_a_folder_without_weights(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"lacks model\.safetensors"):
        read_weights(folder(tmp_path, optimizer=1.0))


def test_a_file_that_is_no_safetensors_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_tensors(path)
    path.write_bytes(b"\x80\x04pickle")
    with pytest.raises(FileError, match=r"model\.safetensors is not a safetensors file: "):
        read_tensors(path)
