from __future__ import annotations

import pytest
import torch

from glassformer.training.precision import LossScale, autocast, matmul_precision, products_beside

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("precision", "dtype"), [("float32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)]
)
def test_products_are_in_the_named_precision(precision: str, dtype: torch.dtype) -> None:
    with autocast(precision, CPU):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == dtype


def test_the_scale_halves_and_doubles_as_torchs() -> None:
    """The same steps, good and bad, through torch's own rule."""
    ours = LossScale("fp16", CPU)
    ours.growth = 3
    scale, tracker = torch.tensor(2.0**16), torch.zeros((), dtype=torch.int32)
    for bad in [True, False, False, False, False, True, False, False, False, False, False, False]:
        ours.update(torch.tensor(bad))
        torch._amp_update_scale_(scale, tracker, torch.tensor(float(bad)), 2.0, 0.5, 3)
        assert float(ours.factor) == float(scale)
        assert int(ours.good) == int(tracker)
    assert float(scale) == 2.0**16 / 4 * 8


def test_only_fp16_is_scaled() -> None:
    for precision in ("float32", "bf16"):
        scale = LossScale(precision, CPU)
        scale.update(torch.tensor(True))
        assert float(scale.factor) == 1.0 and not scale.used


def test_its_state_comes_back() -> None:
    scale = LossScale("fp16", CPU)
    for bad in (True, True, False):
        scale.update(torch.tensor(bad))
    again = LossScale("fp16", CPU)
    again.load(scale.state())
    assert again.state() == scale.state() == {"scale": 2.0**14, "good": 1}


def test_the_precision_of_products_is_put_back() -> None:
    before = torch.get_float32_matmul_precision()
    with pytest.raises(ValueError, match="inside"), matmul_precision("medium"):
        assert torch.get_float32_matmul_precision() == "medium"
        raise ValueError("inside")
    assert torch.get_float32_matmul_precision() == before


def test_only_an_accelerators_products_beside_16_bits_may_be_rough() -> None:
    before = torch.get_float32_matmul_precision()
    for precision, device, expected in (
        ("bf16", "cuda", "high"),
        ("fp16", "cuda", "high"),
        ("float32", "cuda", before),
        ("bf16", "cpu", before),
    ):
        with products_beside(precision, torch.device(device)):
            assert torch.get_float32_matmul_precision() == expected
        assert torch.get_float32_matmul_precision() == before
