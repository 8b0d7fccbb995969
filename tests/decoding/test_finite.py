from __future__ import annotations

import pytest
import torch

from glassformer.decoding.finite import comparable, finite
from glassformer.errors import InputError

INFINITE, NAN = float("inf"), float("nan")


def test_finite_numbers_pass() -> None:
    x = torch.tensor([[1.0, -1e30], [0.0, 1e30]])
    assert finite(x) is x and comparable(x) is x


@pytest.mark.parametrize("number", [NAN, INFINITE, -INFINITE])
def test_others_are_counted(number: float) -> None:
    x = torch.tensor([[1.0, number, number], [0.0, 1.0, 2.0]], dtype=torch.float16)
    with pytest.raises(InputError, match=r"not finite: 2 of 6 numbers are NaN or infinite.*type float16"):
        finite(x)


def test_a_logit_may_be_minus_infinity_but_not_all_of_them() -> None:
    x = torch.tensor([[1.0, -INFINITE], [-INFINITE, 2.0]])
    assert comparable(x) is x
    for row in ([NAN, 1.0], [INFINITE, 1.0], [-INFINITE, -INFINITE], [-INFINITE, NAN]):
        with pytest.raises(InputError, match="not finite"):
            comparable(torch.tensor([[1.0, 2.0], row]))
