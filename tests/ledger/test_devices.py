from __future__ import annotations

import pytest

from glassformer.errors import ConfigError
from glassformer.ledger.devices import DEVICE_DTYPES, DEVICES, MEASURED, card_peak, device_named, this_machine


@pytest.mark.parametrize("name", DEVICES)
def test_a_data_sheet_is_whole(name: str) -> None:
    device = device_named(name)
    assert device.name == name
    assert device.sheet
    assert set(device.peaks) <= set(DEVICE_DTYPES)
    assert device.peak("float16") >= device.peak("float32") > 10**12
    assert device.peaks.get("tf32", device.peak("float32")) >= device.peak("float32")
    assert 10**9 < device.network < device.link < device.bandwidth
    assert 16 * 10**9 <= device.memory <= 141 * 10**9
    assert device.to_json()["peaks"]["float16"] == device.peak("float16")


def test_figures_that_everybody_knows() -> None:
    assert DEVICES["a100-80"].peak("bfloat16") == 312e12
    assert DEVICES["h100"].link == 450e9  # NVLink: 900 GB/s, counted in one direction
    assert DEVICES["h200"].memory == 141e9
    assert DEVICES["t4"].best_dtype == "float16"
    assert DEVICES["h100"].best_dtype == "bfloat16"


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA A100-SXM4-80GB", "a100-80"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA L4", "l4"),
        ("Tesla T4", "t4"),
        ("NVIDIA GeForce RTX 4090", "rtx4090"),
        ("NVIDIA RTX A1000", "p100"),  # unknown: the slowest
        ("", "p100"),
    ],
)
def test_a_card_is_known_by_its_name(card: str, name: str) -> None:
    assert card_peak(card, "float16") == DEVICES[name].peak("float16")


def test_what_a_device_has_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="v100 has no peak for dtype=bfloat16; use one of: float16, float32"):
        DEVICES["v100"].peak("bfloat16")
    with pytest.raises(ConfigError, match="device='h300' is unknown; use one of: h200, h100"):
        device_named("h300")


@pytest.mark.slow
def test_this_machine_is_measured() -> None:
    device = this_machine(seconds=0.02)
    assert device.name == MEASURED
    assert device.peak(device.best_dtype) > 10**8
    assert device.bandwidth > 10**7
    assert device.memory > 2**20
    assert device.sheet
    assert not device.system
