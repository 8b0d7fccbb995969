from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from glassformer.errors import ConfigError
from glassformer.loading import choose_device, choose_dtype, choose_loaded_dtype
from glassformer.loading.device import check_computes, computes


def test_the_device_of_a_name() -> None:
    assert choose_device("cpu") == choose_device(torch.device("cpu")) == torch.device("cpu")
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert choose_device("meta", meta=True).type == "meta"


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "tpu", "", "meta"])
def test_a_device_that_is_not_there(name: str) -> None:
    with pytest.raises(ConfigError, match=f"device='{name}' is not a device of this machine; use one of: auto, cpu"):
        choose_device(name)


def test_what_is_no_name() -> None:
    with pytest.raises(ConfigError, match="is not a device of this machine"):
        choose_device([1])  # type: ignore[arg-type]


def test_the_type_of_a_name() -> None:
    for given in ("bfloat16", "torch.bfloat16", torch.bfloat16):
        assert choose_dtype(given) is torch.bfloat16
    for given in ("int4", torch.int64, ""):
        with pytest.raises(
            ConfigError, match=r"dtype='.*' is unknown; use one of: float64, float32, bfloat16, float16"
        ):
            choose_dtype(given)


def test_a_stored_model_may_also_stay_as_it_is_or_become_int8() -> None:
    assert choose_loaded_dtype("keep") == "keep"
    assert choose_loaded_dtype("int8") is choose_loaded_dtype(torch.int8) is torch.int8
    assert choose_loaded_dtype("float16") is choose_loaded_dtype("fp16") is torch.float16
    for given in ("int4", "bf8", torch.int64, "Keep", ""):
        with pytest.raises(ConfigError, match=r"'.*' is unknown; use one of: float64, .*, float16, int8, keep"):
            choose_loaded_dtype(given)
    with pytest.raises(ConfigError, match=r"dtype='int8' is unknown; use one of: .*, float16$"):
        choose_dtype("int8")  # nothing is built in it


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int8])
def test_the_cpu_computes_in_every_type(dtype: torch.dtype) -> None:
    check_computes(dtype, torch.device("cpu"))


def test_a_type_in_which_a_device_does_not_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a CPU whose torch has no product in float16."""
    linear = F.linear

    def without_half(x: Tensor, weight: Tensor) -> Tensor:
        if x.dtype == torch.float16:
            raise RuntimeError("\"addmm_impl_cpu_\" not implemented for 'Half'")
        return linear(x, weight)

    monkeypatch.setattr(F, "linear", without_half)
    with pytest.raises(ConfigError) as told:
        check_computes(torch.float16, torch.device("cpu"))
    assert str(told.value) == ("cpu does not compute in float16; use one of: float64, float32, bfloat16, int8, keep")
    assert told.value.in_language("ko") == (
        "cpu: float16 자료형으로 계산하지 못하는 장치입니다. "
        "다음 중 하나를 쓰세요: float64, float32, bfloat16, int8, keep"
    )


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_an_accelerator_computes_in_half_precision() -> None:
    device = torch.device("cuda")
    assert computes(torch.float16, device) and computes(torch.float64, device)
    assert computes(torch.bfloat16, device) == (torch.cuda.get_device_capability()[0] >= 8)
