from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.bench.lift import lifted
from glassformer.bench.references import opened, save


def test_whoever_asks_for_float32_gets_float64_but_whole_numbers_stay() -> None:
    x = torch.ones(2, dtype=torch.float64)
    with lifted():
        assert x.float().dtype == torch.float64
        assert x.to(torch.float32).dtype == torch.float64
        assert x.softmax(0, dtype=torch.float32).dtype == torch.float64
        assert torch.arange(3, dtype=torch.float32).dtype == torch.float64
        assert torch.arange(3).float().dtype == torch.float32
        assert torch.FloatTensor([1.0]).dtype == torch.float64
    assert x.float().dtype == torch.float32
    assert torch.FloatTensor([1.0]).dtype == torch.float32


def test_lifting_ends_even_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), lifted():
        raise ZeroDivisionError
    assert torch.get_default_dtype() == torch.float32
    assert torch.ones(1).float().dtype == torch.float32


def test_the_islands_are_there_and_are_lifted(tmp_path: Path) -> None:
    """The norm of LLaMA by its formula in float64: not what it computes by itself, but what it computes lifted."""
    pytest.importorskip("transformers")
    save("llama", tmp_path)
    norm: Any = opened("llama", tmp_path, torch.float64).model.norm
    x = torch.randn(5, 36, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    exact = norm.weight * x / (x.square().mean(-1, keepdim=True) + norm.variance_epsilon).sqrt()
    assert 1e-9 < float((norm(x) - exact).detach().abs().max()) < 1e-6
    with lifted():
        assert float((norm(x) - exact).detach().abs().max()) < 1e-14
