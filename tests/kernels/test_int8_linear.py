from __future__ import annotations

import pytest
import torch
from torch import Tensor

from glassformer.kernels.int8_linear import exact, int8_linear, pack_int8, packed_linear, to_int8

needs_instructions = pytest.mark.skipif(not exact(), reason="this CPU has no product of 8-bit numbers")


def matrix(n: int, k: int) -> Tensor:
    return torch.randn(n, k, generator=torch.Generator().manual_seed(n * k)) / k**0.5


def inputs(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(7))


def test_by_hand() -> None:
    w = torch.tensor([[1.27, -0.64, 0.0], [-12.7, 0.1, 6.36], [0.0, 0.0, 0.0]])
    q, s = to_int8(w)
    assert q.tolist() == [[127, -64, 0], [-127, 1, 64], [0, 0, 0]] and q.dtype == torch.int8
    torch.testing.assert_close(s[:2], torch.tensor([0.01, 0.1]))
    x, bias = torch.tensor([[1.0, 2.0, -1.0]]), torch.tensor([0.0, 1.0, 2.0])
    torch.testing.assert_close(int8_linear(x, q, s, bias), torch.tensor([[-0.01, -17.9, 2.0]]))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 3), (48, 64), (100, 257)])
def test_a_weight_is_off_by_half_a_step_at_most(n: int, k: int) -> None:
    w = matrix(n, k)
    q, s = to_int8(w)
    assert bool(((q * s[:, None] - w).abs() <= s[:, None] * 0.5 * (1 + 1e-5)).all())
    assert int(q.min()) >= -127  # -128 has no negative


@needs_instructions
@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 3), (48, 64), (100, 257), (1000, 256)])
@pytest.mark.parametrize("rows", [(1,), (4,), (2, 3), (33,)])
def test_the_product_of_whole_numbers_is_off_by_what_rounding_x_takes(n: int, k: int, rows: tuple[int, ...]) -> None:
    """x_j is off by a/2 at most, a = max |x| / 127, so y_i is off by a/2 · Σ_j |w_ij| at most."""
    (q, s), x, bias = to_int8(matrix(n, k)), inputs(*rows, k), inputs(n)
    whole = pack_int8(q)
    assert whole is not None
    found, plain = packed_linear(x, whole, s, bias), int8_linear(x.double(), q, s.double(), bias.double())
    most = x.abs().amax(-1, keepdim=True) / 127 / 2 * (q.double().abs() * s[:, None]).sum(1)
    assert found.shape == (*rows, n) and found.dtype == torch.float32
    assert bool(((found - plain).abs() <= most * (1 + 1e-4) + 1e-6).all())


@needs_instructions
def test_whole_numbers_are_multiplied_exactly() -> None:
    """What is a whole number already, with 127 as its largest, is not rounded: the largest sums are exact."""
    x, w = torch.full((3, 512), 127.0), torch.full((16, 512), 127.0)
    x[1, 1::2], w[1::2] = -127.0, -127.0
    q, s = to_int8(w)
    whole = pack_int8(q)
    assert whole is not None
    torch.testing.assert_close(packed_linear(x, whole, s), x @ w.t(), rtol=0, atol=0)


@needs_instructions
def test_a_row_depends_on_no_other_row() -> None:
    q, s = to_int8(matrix(96, 64))
    whole, x = pack_int8(q), inputs(40, 64)
    assert whole is not None
    x[7] *= 1e4
    together = packed_linear(x, whole, s)
    for row in (0, 7, 39):
        assert torch.equal(packed_linear(x[row], whole, s), together[row])


@needs_instructions
def test_zeros_and_what_is_not_finite() -> None:
    q, s = to_int8(matrix(16, 8))
    whole, x = pack_int8(q), inputs(4, 8)
    assert whole is not None
    x[0], x[1, 3], x[2, 3] = 0.0, float("nan"), float("inf")
    y = packed_linear(x, whole, s)
    assert torch.equal(y[0], torch.zeros(16)) and not y[1].isfinite().any() and not y[2].isfinite().any()
    assert torch.equal(y[3], packed_linear(x[3:], whole, s)[0])
    assert packed_linear(x[:0], whole, s).shape == (0, 16)


def test_only_the_cpu_has_a_packed_form() -> None:
    assert pack_int8(torch.zeros(4, 4, dtype=torch.int8, device="meta")) is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_the_plain_form_keeps_the_type_of_x(dtype: torch.dtype) -> None:
    q, s = to_int8(matrix(6, 4).to(dtype))
    assert int8_linear(inputs(2, 4).to(dtype), q, s).dtype == dtype
