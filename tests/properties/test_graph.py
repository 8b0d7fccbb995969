"""Taps cost nothing when nobody looks: the compiled graph is the one of a model without any."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from torch import Tensor

import glassformer as gf
import measure
from glassformer.config.model import ModelConfig
from glassformer.models.build import build

SMALL = {"d_model": 16, "n_heads": 2, "d_ff": 32, "vocab_size": 20, "head": "language_model"}
FAMILIES = {
    "encoder": ModelConfig(family="encoder", n_encoder_layers=2, **SMALL),
    "decoder": ModelConfig(family="decoder", n_decoder_layers=2, position="rotary", norm_order="pre", **SMALL),
    "encoder-decoder": ModelConfig(n_encoder_layers=2, n_decoder_layers=2, **SMALL),
}


def graph(config: ModelConfig, kernel: str) -> str:
    """What torch.compile sees, as text."""
    seen: list[str] = []

    def look(module: Any, _: list[Tensor]) -> Any:
        seen.append(module.print_readable(print_output=False, include_stride=False, include_device=False))
        return module.forward

    torch.compiler.reset()
    model = build(config, seed=0, kernel=kernel)
    torch.compile(model, fullgraph=True, backend=look)(*measure.inputs(config, torch.float32))
    assert len(seen) == 1
    return "\n".join(line.split("#")[0].rstrip() for line in seen[0].splitlines())


def without_taps(monkeypatch: pytest.MonkeyPatch) -> int:
    """Replace every tap by the tensor itself; returns in how many files there were any."""
    files = [m for name, m in sys.modules.items() if name.startswith("glassformer.") and "tap" in vars(m)]
    for module in files:
        if callable(vars(module)["tap"]):
            monkeypatch.setattr(module, "tap", lambda name, x: x)
            for question in ("watched", "edited", "observed"):
                if question in vars(module):
                    monkeypatch.setattr(module, question, lambda *_: False)
    return len(files)


@pytest.mark.many
@pytest.mark.parametrize("kernel", ["fused", "reference"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_graph_is_the_same_with_and_without_taps(family: str, kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_taps = graph(FAMILIES[family], kernel)
    assert "softmax" in with_taps or "scaled_dot_product_attention" in with_taps
    assert without_taps(monkeypatch) > 5
    assert graph(FAMILIES[family], kernel) == with_taps


def test_an_operation_more_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before = graph(FAMILIES["decoder"], "fused")
    monkeypatch.setattr(gf.models.block, "tap", lambda name, x: x + 0 if name == "output" else x)
    assert graph(FAMILIES["decoder"], "fused") != before
