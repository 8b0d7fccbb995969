from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from exported_graphs import need_onnx
from glassformer.errors import ConfigError
from glassformer.graphs import write
from glassformer.graphs.forms import BATCH, LENGTH, Graph, GraphInput
from glassformer.graphs.write import check_packages, distance, largest_difference, write_graph

need_onnx()


class Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([2.0, 3.0]))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class Undecided(nn.Module):
    """It asks for the values of its input, which a graph cannot."""

    def forward(self, x: Tensor) -> Tensor:
        return x if bool(x.sum() > 0) else -x


def graph(module: nn.Module) -> Graph:
    return Graph("model", module, {"x": GraphInput((BATCH, LENGTH, 2))}, ("y",))


@pytest.mark.slow
def test_a_file_that_computes_something_else_is_found(tmp_path: Path) -> None:
    module = Linear()
    write_graph(graph(module), tmp_path / "model.onnx")
    assert largest_difference(graph(module), tmp_path / "model.onnx") <= 1e-6
    with torch.no_grad():
        module.weight[0] += 0.001
    with pytest.raises(ConfigError, match=r"model\.onnx: y differs from ours by [1-9]\.\de-04 in onnxruntime"):
        largest_difference(graph(module), tmp_path / "model.onnx")


@pytest.mark.slow
def test_many_weights_stand_in_a_file_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "LARGEST", 1)
    write_graph(graph(Linear()), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").is_file()
    assert largest_difference(graph(Linear()), tmp_path / "model.onnx") <= 1e-6


@pytest.mark.slow
def test_what_a_graph_cannot_hold_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"model\.onnx: ONNX cannot hold this model: .+") as refused:
        write_graph(graph(Undecided()), tmp_path / "model.onnx")
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_file_that_onnxruntime_does_not_open_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ConfigError, match=r"model\.onnx: ONNX cannot hold this model: .+"):
        largest_difference(graph(Linear()), tmp_path / "model.onnx")


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    check_packages()
    monkeypatch.setattr(write, "PACKAGES", ("onnx", "no_such_package"))
    with pytest.raises(ConfigError, match=r"--to onnx needs a package .*'glassformer\[onnx\]'") as missing:
        check_packages()
    assert "glassformer[onnx]" in missing.value.in_language("ko")


def test_the_distance_is_relative_to_large_numbers_only() -> None:
    assert distance(torch.tensor([100.0, 1.0]), torch.tensor([99.0, 1.0])) == pytest.approx(0.01)
    assert distance(torch.tensor([0.1]), torch.tensor([0.2])) == pytest.approx(0.1)
    assert distance(torch.tensor([1.0]), torch.tensor([float("nan")])) != 0.0
