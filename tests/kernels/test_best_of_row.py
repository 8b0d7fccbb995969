"""The best logits of each row against a sort of all; on an accelerator, or by hand with TRITON_INTERPRET=1."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from kernel_device import DEVICE, KERNEL_TESTS

pytestmark = [
    *KERNEL_TESTS,
    pytest.mark.filterwarnings("ignore:(invalid value|divide by zero):RuntimeWarning"),  # the interpreter's numpy
]
NEVER = float("-inf")
TYPES = [torch.float32, torch.bfloat16, torch.float16]
SIZES = [(3, 70, 8), (5, 9_000, 8), (2, 9_000, 64), (4, 4_096, 1), (2, 8, 8), (2, 4_097, 8), (2, 1, 1)]  # n v m


def check(logits: Tensor, m: int, never: Tensor | None = None) -> None:
    from glassformer.kernels.best_of_row import best_of_row

    found, wide = best_of_row(logits, m, never), logits.float()
    ranked = wide if never is None else wide.masked_fill(never, NEVER)
    best = ranked.sort(dim=1, descending=True, stable=True)
    assert torch.equal(found.values, best.values[:, :m] - found.log_sums[:, None])
    assert torch.equal(found.positions, best.indices[:, :m])
    torch.testing.assert_close(found.log_sums, wide.logsumexp(1), rtol=1e-5, atol=1e-5)


def some(n: int, v: int, dtype: torch.dtype) -> Tensor:
    torch.manual_seed(0)
    return (torch.randn(n, v, device=DEVICE) * 3).to(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("n", "v", "m"), SIZES)
def test_best_of_row(n: int, v: int, m: int, dtype: torch.dtype) -> None:
    logits = some(n, v, dtype)
    check(logits, m)
    never = torch.rand(v, device=DEVICE) < 0.3
    never[0] = False
    check(logits, m, never)
    never = torch.zeros(v, dtype=torch.bool, device=DEVICE)
    never[logits[0].argmax()] = True  # it is left out, and counts in the sum
    check(logits, m, never)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_of_equal_ones_the_first(dtype: torch.dtype) -> None:
    logits = some(3, 9_000, dtype)
    logits[0, 17::19] = 20.0
    logits[1] = 0.0
    logits[1, ::2] = -0.0
    check(logits, 8)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_where_most_are_impossible(dtype: torch.dtype) -> None:
    logits = some(3, 9_000, dtype)
    logits[0, :8_000] = NEVER  # a whole part
    logits[1, 3:] = NEVER  # fewer than asked for
    check(logits, 8)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("wrong", [float("nan"), -float("nan"), float("inf")])
@pytest.mark.parametrize("at", [0, 5_000, 8_999])
def test_what_is_not_finite_shows_in_the_sum(at: int, wrong: float, dtype: torch.dtype) -> None:
    from glassformer.kernels.best_of_row import best_of_row

    logits = some(3, 9_000, dtype)
    logits[1, at] = wrong
    found = best_of_row(logits, 8)
    assert found.log_sums.isfinite().tolist() == [True, False, True]
    assert bool(((found.positions >= 0) & (found.positions < 9_000)).all())
    assert not bool(best_of_row(torch.full_like(logits, NEVER), 8).log_sums.isfinite().any())


def test_rows_and_columns_of_a_larger_one() -> None:
    check(some(6, 5_000, torch.float32)[::2, :4_500], 8)
    check(some(5_000, 3, torch.float32).T, 8)
