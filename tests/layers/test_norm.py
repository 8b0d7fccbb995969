from __future__ import annotations

import math

import pytest
import torch

from glassformer.errors import ConfigError
from glassformer.layers.norm import NORMS, LayerNorm, RMSNorm


def test_layer_norm_by_hand() -> None:
    # (1, 2, 3, 6): mean 3, variance (4 + 1 + 0 + 9)/4 = 3.5; minus the mean, divided by √3.5 = 1.870829.
    norm = LayerNorm(4, eps=1e-12)
    result = norm(torch.tensor([1.0, 2.0, 3.0, 6.0]))
    torch.testing.assert_close(result, torch.tensor([-1.069045, -0.534522, 0.0, 1.603567]), atol=1e-6, rtol=0)


def test_rms_norm_by_hand() -> None:
    # (1, 1, 3, 5): mean of squares (1 + 1 + 9 + 25)/4 = 9, so everything is divided by 3.
    norm = RMSNorm(4, eps=1e-12)
    result = norm(torch.tensor([1.0, 1.0, 3.0, 5.0]))
    torch.testing.assert_close(result, torch.tensor([1 / 3, 1 / 3, 1.0, 5 / 3]), atol=1e-6, rtol=0)


def test_weight_and_bias_by_hand() -> None:
    layer, rms = LayerNorm(2, eps=1e-12), RMSNorm(2, eps=1e-12)
    with torch.no_grad():
        for norm in (layer, rms):
            norm.weight.copy_(torch.tensor([2.0, 3.0]))
        assert layer.bias is not None
        layer.bias.copy_(torch.tensor([10.0, 20.0]))
    torch.testing.assert_close(layer(torch.tensor([1.0, 5.0])), torch.tensor([8.0, 23.0]))  # normalised: −1, 1
    torch.testing.assert_close(rms(torch.tensor([1.0, 7.0])), torch.tensor([0.4, 4.2]))  # divided by √25


def test_eps_stands_under_the_root() -> None:
    # (1, −1): variance 1, mean of squares 1; with ε = 3 both divide by √4.
    x = torch.tensor([1.0, -1.0])
    for norm in (LayerNorm(2, eps=3.0), RMSNorm(2, eps=3.0)):
        torch.testing.assert_close(norm(x), torch.tensor([0.5, -0.5]))


@pytest.mark.parametrize("kind", sorted(NORMS))
def test_a_token_of_zeros_stays_finite(kind: str) -> None:
    x = torch.zeros(2, 4, requires_grad=True)
    result = NORMS[kind](4)(x)
    assert torch.equal(result, torch.zeros(2, 4))
    (gradient,) = torch.autograd.grad(result.sum(), x)
    assert torch.isfinite(gradient).all()


def test_layer_norm_gives_mean_zero_and_deviation_one_for_each_token() -> None:
    result = LayerNorm(64).double()(5 + 3 * torch.randn(2, 7, 64).double())
    torch.testing.assert_close(result.mean(-1), torch.zeros(2, 7).double(), atol=1e-12, rtol=0)
    torch.testing.assert_close(result.std(-1, correction=0), torch.ones(2, 7).double(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", sorted(NORMS))
def test_a_token_depends_on_no_other(kind: str) -> None:
    norm, x = NORMS[kind](16), torch.randn(3, 5, 16)
    before = norm(x)
    x[1, 2] *= 100
    after = norm(x)
    unchanged = torch.ones(3, 5, dtype=torch.bool)
    unchanged[1, 2] = False
    assert torch.equal(after[unchanged], before[unchanged])


@pytest.mark.parametrize("kind", sorted(NORMS))
def test_bfloat16_is_computed_in_at_least_float32(kind: str) -> None:
    torch.manual_seed(0)
    x = (100 + torch.randn(8, 512)).bfloat16()  # a mean of 100 leaves bfloat16 two bits for the rest
    norm = NORMS[kind](512).bfloat16()
    exact = NORMS[kind](512).double()(x.double())
    result = norm(x)
    assert result.dtype == torch.bfloat16
    torch.testing.assert_close(result.double(), exact, rtol=2**-8, atol=1e-6)  # one rounding at the end, no more
    centred = x - x.mean(-1, keepdim=True) if kind == "layer" else x
    naive = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + norm.eps)
    assert not torch.allclose(naive.double(), exact, rtol=2**-8, atol=1e-6)


@pytest.mark.parametrize("kind", sorted(NORMS))
def test_float16_does_not_overflow(kind: str) -> None:
    x = torch.tensor([300.0, -300.0] * 8).half()  # 300² = 90,000 is beyond float16
    result = NORMS[kind](16).half()(x)
    assert result.dtype == torch.float16
    assert result.tolist() == [1.0, -1.0] * 8


@pytest.mark.parametrize("kind", sorted(NORMS))
def test_float64_stays_float64(kind: str) -> None:
    x = torch.randn(4, 16).double()
    centred = x - x.mean(-1, keepdim=True) if kind == "layer" else x
    expected = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(NORMS[kind](16).double()(x), expected, atol=1e-13, rtol=0)


def test_parameters_start_at_one_and_zero() -> None:
    layer = LayerNorm(4)
    assert layer.weight.tolist() == [1.0] * 4
    assert layer.bias is not None and layer.bias.tolist() == [0.0] * 4
    assert [name for name, _ in LayerNorm(4, bias=False).named_parameters()] == ["weight"]
    assert [name for name, _ in RMSNorm(4, bias=True).named_parameters()] == ["weight"]


def test_a_layer_norm_without_bias_still_takes_the_mean() -> None:
    result = LayerNorm(2, bias=False, eps=1e-12)(torch.tensor([3.0, 5.0]))
    assert result.tolist() == pytest.approx([-1.0, 1.0], abs=1e-6)
    assert math.isclose(RMSNorm(2, eps=1e-12)(torch.tensor([3.0, 4.0]))[0].item(), 3 / math.sqrt(12.5), rel_tol=1e-6)


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_a_width_that_is_none_is_refused(norm: type[LayerNorm | RMSNorm]) -> None:
    with pytest.raises(ConfigError, match="d_model=-1 is out of range"):
        norm(-1)
    with pytest.raises(ConfigError, match="d_model='a'"):
        norm("a")  # type: ignore[arg-type]
