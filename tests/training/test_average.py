from __future__ import annotations

from pathlib import Path

import pytest
import torch

from glassformer.errors import FileError
from glassformer.runs import read_weights
from glassformer.training.average import average, mean
from glassformer.training.checkpoint import save_folder


def folders(tmp_path: Path, *values: float) -> list[Path]:
    for i, value in enumerate(values):
        weights = {"w": torch.tensor([value, 2 * value]), "n": torch.tensor([3], dtype=torch.int64)}
        save_folder(tmp_path / f"step-{i}", {"model.safetensors": weights}, {})
    return [tmp_path / f"step-{i}" for i in range(len(values))]


def test_the_mean_by_hand(tmp_path: Path) -> None:
    weights = average(folders(tmp_path, 1.0, 2.0, 6.0), tmp_path / "averaged")
    assert weights["w"].tolist() == [3.0, 6.0]
    assert weights["n"].tolist() == [3] and weights["n"].dtype == torch.int64
    read = read_weights(tmp_path / "averaged")
    assert torch.equal(read["w"], weights["w"])
    assert (tmp_path / "averaged" / "state.json").read_text().split() == [
        "{",
        '"of":',
        "[",
        '"step-0",',
        '"step-1",',
        '"step-2"',
        "]",
        "}",
    ]


def test_sums_are_in_float64() -> None:
    parts = [{"w": torch.tensor([value])} for value in (1e8, 1.0, -1e8, 1.0)]
    assert mean(parts)["w"].item() == 0.5


def test_one_set_is_its_own_mean() -> None:
    w = torch.randn(5)
    assert torch.equal(mean([{"w": w}])["w"], w)


def test_nothing_has_no_mean(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no checkpoint to average; lower save_every"):
        average([], tmp_path / "averaged")


def test_an_altered_checkpoint_is_not_averaged(tmp_path: Path) -> None:
    paths = folders(tmp_path, 1.0, 2.0)
    (paths[1] / "model.safetensors").write_bytes(b"x")
    with pytest.raises(FileError, match="has 1 bytes instead of"):
        average(paths, tmp_path / "averaged")
    assert not (tmp_path / "averaged").exists()
