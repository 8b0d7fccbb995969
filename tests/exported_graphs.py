"""Runs and models of others as folders of ONNX graphs, made once for all tests, and what onnxruntime answers."""

from __future__ import annotations

import os
import re
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glassformer.graphs import export_onnx
from glassformer.graphs.write import PACKAGES, open_graph
from once import once
from tiny_runs import trained


def need_onnx() -> None:
    """Skip the tests of a module where the extra is not installed."""
    for package in PACKAGES:
        pytest.importorskip(package, reason="the extra onnx is not installed")


def run_and_graphs(kind: str) -> tuple[Path, Path]:
    """A tiny trained run of a task, and its graphs."""

    def make(folder: Path) -> None:
        folder.mkdir()
        export_onnx(trained(kind, folder), folder / "onnx")

    folder = once(f"graphs-{kind}", make)
    return folder / kind, folder / "onnx"


def ask(folder: Path, graph: str, **inputs: Tensor) -> dict[str, Tensor]:
    """The outputs of a graph by name."""
    session = open_graph(folder / f"{graph}.onnx")
    found = session.run(None, {name: x.numpy() for name, x in inputs.items()})
    return {each.name: torch.from_numpy(x) for each, x in zip(session.get_outputs(), found, strict=True)}


def empty_cache(described: dict[str, Any], batch: int) -> dict[str, Tensor]:
    return {name: torch.zeros(batch, heads, 0, width) for name, (heads, width) in described["cache"].items()}


def grown(outputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The cache for the next step."""
    return {name.replace("all_", "past_"): x for name, x in outputs.items() if name.startswith("all_")}


def run_readme(folder: Path, name: str, text: str | None = None) -> tuple[Any, str]:
    """What the lines of a README answer, and what they print; `text` instead of the example."""
    (code,) = re.findall(r"```python\n(.*?)```", (folder / name).read_text(encoding="utf-8"), re.DOTALL)
    if text is not None:
        code, count = re.subn(r'encode\(".*?"', lambda _: f'encode("{text}"', code)
        assert count == 1
    names: dict[str, Any] = {}
    with chdir(folder), redirect_stdout(StringIO()) as printed:
        exec(compile(code, name, "exec"), names)
    return names["answer"], printed.getvalue().strip(os.linesep)


def largest(one: Tensor, other: Tensor | np.ndarray[Any, Any]) -> float:
    return float((one - torch.as_tensor(other)).abs().max())
