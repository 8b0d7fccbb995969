from __future__ import annotations

from math import ceil

import pytest

from glassformer.ledger.devices import DEVICES
from glassformer.ledger.job import Job
from glassformer.ledger.network import reduced, ring, ring_seconds, traffic
from glassformer.ledger.work import work
from glassformer.models.presets import PRESETS

A100 = DEVICES["a100-40"]
GPT2 = PRESETS["gpt2"]()
N = 124_439_808


def test_a_ring_is_as_fast_as_its_slowest_part() -> None:
    assert ring(A100, 8) == 300e9  # inside a node: NVLink
    assert ring(A100, 9) == 8 * 25e9  # between nodes: eight cards side by side
    assert ring(DEVICES["l4"], 16) == 8 * 1.5625e9


def test_ddp_by_hand() -> None:
    job = Job(devices=8, parallel="ddp", batch=12, length=1024, accumulate=5)
    found = traffic(A100, job, work(GPT2, job))
    buckets = ceil(4 * N / (25 * 2**20))
    assert found.bytes == 2 * 7 * 4 * N // 8
    assert found.micro == 0
    assert found.last == pytest.approx(2 * (7 / 8 * 4 * N / (300e9 * 0.8) + buckets * 7 * 3.4e-6))
    assert found.step(5) == found.last


def test_fsdp_by_hand() -> None:
    job = Job(devices=16, accumulate=3)
    found = traffic(A100, job, work(GPT2, job))
    hops = 13 * (1 * 14e-6 + 14 * 3.4e-6)  # 12 blocks and the rest; one hop between two nodes, 14 inside
    once = 15 / 16 / (200e9 * 0.8)
    assert found.micro == pytest.approx(2 * (2 * N * once + hops) + 4 * N * once + hops)
    assert found.bytes == round(15 / 16 * N * (2 * 2 + 4) * 3)
    late = traffic(A100, Job(devices=16, accumulate=3, no_sync=True), work(GPT2, job))
    assert late.step(3) == pytest.approx(3 * 2 * (2 * N * once + hops) + 4 * N * once + hops)
    assert late.bytes == round(15 / 16 * N * (2 * 2 * 3 + 4))


def test_one_device_says_nothing() -> None:
    assert traffic(A100, Job(), work(GPT2, Job())).step(1) == 0


def test_more_devices_never_take_less() -> None:
    for collective in (ring_seconds, reduced):
        times = [collective(A100, devices, 1e9, 10) for devices in (2, 8, 16, 64, 1024, 10_000)]
        assert times == sorted(times)
