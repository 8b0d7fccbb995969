from __future__ import annotations

import pytest
import torch

from glassformer.errors import ConfigError
from glassformer.loading import choose_device, choose_dtype


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
