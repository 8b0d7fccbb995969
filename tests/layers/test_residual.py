from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from glassformer.config.model import ModelConfig
from glassformer.layers.residual import StochasticDepth, add_norm
from glassformer.models.build import build


def triple(x: Tensor) -> Tensor:
    return 3 * x


def halve(x: Tensor) -> Tensor:
    return x / 2


def plus_one(x: Tensor) -> Tensor:
    return x + 1


def test_post_norm_by_hand() -> None:
    # halve(x + (3x + 1)) at x = 5: (5 + 16)/2
    assert add_norm(torch.tensor(5.0), triple, halve, plus_one, "post").item() == 10.5


def test_pre_norm_by_hand() -> None:
    # x + (3·x/2 + 1) at x = 4: 4 + 7
    assert add_norm(torch.tensor(4.0), triple, halve, plus_one, "pre").item() == 11.0


def test_a_sublayer_that_does_nothing_passes_a_pre_norm_stream_on() -> None:
    x = torch.randn(2, 3, 4)
    assert torch.equal(add_norm(x, torch.zeros_like, halve, torch.nn.Identity(), "pre"), x)
    assert torch.equal(add_norm(x, torch.zeros_like, halve, torch.nn.Identity(), "post"), x / 2)


def test_a_whole_row_of_the_batch_is_left_out_or_scaled_up() -> None:
    torch.manual_seed(0)
    result = StochasticDepth(0.5)(torch.ones(200, 3, 4))
    rows = {tuple(row.unique().tolist()) for row in result}
    assert rows == {(0.0,), (2.0,)}


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
def test_the_mean_and_the_rate_are_kept(rate: float) -> None:
    torch.manual_seed(0)
    result = StochasticDepth(rate)(torch.ones(20_000, 1, 1))
    assert result.mean().item() == pytest.approx(1.0, abs=0.05)
    assert (result == 0).float().mean().item() == pytest.approx(rate, abs=0.02)


def test_evaluation_and_rate_zero_change_nothing() -> None:
    x = torch.randn(4, 3, 2)
    assert StochasticDepth(0.0)(x) is x
    assert StochasticDepth(0.9).eval()(x) is x


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_type_is_kept(dtype: torch.dtype) -> None:
    assert StochasticDepth(0.5)(torch.ones(4, 3, 2, dtype=dtype)).dtype == dtype


def test_a_dropped_row_gets_no_gradient() -> None:
    torch.manual_seed(0)
    x = torch.ones(50, 2, requires_grad=True)
    result = StochasticDepth(0.5)(x)
    (gradient,) = torch.autograd.grad(result.sum(), x)
    assert torch.equal(gradient, result)  # 0 where dropped, 2 where kept


def test_rates_rise_evenly_from_zero() -> None:
    assert StochasticDepth.rates(0.3, 4) == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert StochasticDepth.rates(0.3, 1) == [0.0]
    assert StochasticDepth.rates(0.0, 3) == [0.0, 0.0, 0.0]
    assert StochasticDepth.rates(0.5, 0) == []


@pytest.mark.parametrize("order", ["post", "pre"])
def test_in_bfloat16_the_stream_is_so_too_and_in_float16_it_is_not(order: str) -> None:
    config = ModelConfig(family="decoder", vocab_size=11, d_model=16, n_heads=2, d_ff=32, n_decoder_layers=2)
    model = build(replace(config, norm_order=order, dropout=0.0), seed=0).eval()
    tokens, given = torch.arange(6)[None], []
    model.get_submodule("decoder.blocks.1").register_forward_hook(lambda _, inputs, output: given.append(output.dtype))
    with torch.no_grad():
        exact = model(tokens)
        for dtype in (torch.bfloat16, torch.float16):
            with torch.autocast("cpu", dtype):
                torch.testing.assert_close(model(tokens).float(), exact, rtol=0.05, atol=0.05)
    assert given == [torch.float32, torch.bfloat16, torch.float32]
