from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from math import ceil, sqrt

import pytest

import glassformer as gf
from glassformer.errors import ConfigError
from glassformer.ledger.plan import CURVE, SCALES, Plan
from glassformer.models.presets import PRESETS

N = 124_439_808
FLOPS = 6 * (12 * 12 * 768**2 + 768 * 50257) + 12 * 12 * 768 * 1024  # of one token of gpt2: products and attention


def nano() -> Plan:
    """nanoGPT's run: 8 A100, 12 × 1024 tokens, 5 micro-batches."""
    job = gf.Job(devices=8, parallel="ddp", batch=12, length=1024, accumulate=5)
    return gf.plan("gpt2", tokens="300B", device="a100-40", job=job, price=2, utilisation=0.4)


def test_gpt2_on_eight_devices_by_hand() -> None:
    plan = nano()
    assert plan.flops["exact"] == FLOPS
    compute = 12 * 1024 * FLOPS / (312e12 * 0.4)
    update = 7 * 4 * N / 1555e9  # Adam reads 4 numbers of each parameter and writes 3
    assert plan.compute == pytest.approx(compute)
    assert plan.update == pytest.approx(update)
    assert plan.exposed == 0  # an all-reduce of 4.5 ms beside 56 ms of backward
    assert plan.step == pytest.approx(5 * compute + update)
    assert plan.step_tokens == 8 * 5 * 12 * 1024 == 491_520
    assert plan.steps == ceil(300e9 / 491_520)
    assert plan.rate == pytest.approx(5 * 12 * 1024 / plan.step)
    assert plan.seconds == pytest.approx(plan.steps * plan.step)
    assert plan.reached_mfu == pytest.approx(0.4 * 5 * compute / plan.step)
    assert plan.cost == pytest.approx(plan.seconds * 8 / 3600 * 2)
    assert plan.limit == "compute"
    assert plan.fits


def test_rules_of_thumb_and_chinchilla() -> None:
    plan = nano()
    assert plan.flops["six_n"] == 6 * N
    assert plan.flops["six_n_attention"] == 6 * N + 12 * 12 * 768 * 1024
    assert plan.flops["triangle"] == FLOPS - 12 * 12 * 768 * 1023 / 2
    assert plan.flops["recomputed"] == 0
    assert plan.chinchilla["tokens_for_this_model"] == 20 * N
    size, tokens = plan.chinchilla["parameters_for_this_compute"], plan.chinchilla["tokens_for_this_compute"]
    assert size == pytest.approx(sqrt(N * 300e9 / 20))
    assert 6 * size * tokens == pytest.approx(6 * N * 300e9)


def test_a_stated_utilisation_is_that_of_the_whole_step() -> None:
    job = gf.Job(devices=8, batch=2, length=8192, checkpointing="full")
    plan = gf.plan("llama3-8b", tokens="1T", device="h100", job=job, mfu=0.33)
    assert plan.reached_mfu == pytest.approx(0.33)
    assert plan.rate == pytest.approx(989.4e12 * 0.33 / plan.flops["exact"])
    assert gf.plan("llama3-8b", tokens="1T", device="h100", job=job, utilisation=0.33).reached_mfu < 0.26


def test_what_cannot_be_reached_is_not_promised() -> None:
    """A million tokens a second over a slow network: the network wins over the stated utilisation."""
    job = gf.Job(devices=64, length=128)
    plan = gf.plan("llama3-8b", tokens="1T", device="l4", job=job, mfu=1.0)
    assert plan.limit == "network"
    assert plan.step == plan.traffic.step(1)
    assert plan.reached_mfu < 0.1


def test_recomputing_takes_time() -> None:
    plain, full = (
        gf.plan("gpt2", tokens="1B", device="h100", job=gf.Job(checkpointing=kind)) for kind in ("none", "full")
    )
    assert full.compute > 1.2 * plain.compute
    assert full.memory_bytes < plain.memory_bytes


def test_the_network_hides_behind_computing_or_does_not() -> None:
    small = gf.plan("gpt2", tokens="1B", device="l4", job=gf.Job(devices=16, length=64, parallel="ddp"))
    assert small.limit == "network"
    assert small.exposed > 0
    backward = max(small.compute, small.activation_traffic) * 2 / 3
    assert small.exposed == pytest.approx(small.traffic.last - backward)


def test_a_tiny_batch_is_limited_by_memory_bandwidth() -> None:
    plan = gf.plan("gpt2-xl", tokens="1B", device="h100", job=gf.Job(length=16))
    assert plan.limit == "bandwidth"


def test_the_curve() -> None:
    plan = nano()
    assert [each.job.devices for each in plan.curve] == list(CURVE)
    assert CURVE[0] == 1
    assert CURVE[-1] == 10_000
    assert plan.curve[3].step == plan.step
    speeds = [each.rate * each.job.devices for each in plan.curve]
    assert speeds == sorted(speeds)
    rates = [each.rate for each in plan.curve]
    assert rates == sorted(rates, reverse=True)


def test_the_scales_by_hand() -> None:
    """Weights whole and spread, on 1, 8, 64 and 1,024 devices: the bytes and the bandwidths are those of the sheet."""
    plan = nano()
    assert [(each.job.devices, each.job.parallel) for each in plan.scales] == [
        (1, "ddp"),
        *((n, way) for n in SCALES[1:] for way in ("ddp", "fsdp")),
    ]
    _, ddp_8, fsdp_8, ddp_64, fsdp_64, *_ = plan.scales
    assert ddp_8.memory_bytes == plan.memory_bytes == ddp_64.memory_bytes > fsdp_8.memory_bytes > fsdp_64.memory_bytes
    round_the_node, hops = 7 / 8 * 4 * N / (0.8 * 300e9), 7 * 3.4e-6
    buckets = ceil(4 * N / (25 * 2**20))
    assert ddp_8.limits["network"] == pytest.approx(2 * (round_the_node + buckets * hops))
    # from node to node eight cards of 25 GB/s work side by side: 200 GB/s; 7 hops go between nodes, 56 stay inside
    calls = 12 + 1
    gathered, scattered = (63 / 64 * width * N / (0.8 * 200e9) + calls * (7 * 14e-6 + 56 * 3.4e-6) for width in (2, 4))
    assert fsdp_64.limits["network"] == pytest.approx(5 * (2 * gathered + scattered))
    shown = plan.to_json()["scales"]
    assert [(row["devices"], row["parallel"]) for row in shown][-1] == (1024, "fsdp")
    assert shown[1]["step"]["seconds"] == plan.step == plan.to_json()["step"]["seconds"]
    assert shown[1]["memory_bytes"] == plan.memory_bytes


@pytest.mark.many
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_every_preset_has_a_plan(preset: str, parallel: str) -> None:
    job = gf.Job(devices=16, parallel=parallel, length=16)
    document = gf.plan(preset, tokens="1B", device="v100", job=job).to_json()
    assert document["job"]["dtype"] == "float16"
    assert document["memory"]["bytes"] > document["parameters"] / 16
    assert document["seconds"] > 0
    assert len(document["curve"]) == len(CURVE)
    json.dumps(document, allow_nan=False)


def test_a_device_of_ones_own() -> None:
    fast = replace(gf.DEVICES["h100"], name="mine", peaks={"bfloat16": 2e15})
    plan = gf.plan("gpt2", tokens=10**9, device=fast, job=gf.Job(batch=8), utilisation=0.4)
    assert plan.compute == pytest.approx(8 * 1024 * FLOPS / (2e15 * 0.4))


def test_what_cannot_be_planned_is_refused() -> None:
    def refused(line: str, **keys: float) -> None:
        with pytest.raises(ConfigError, match=line):
            gf.plan("gpt2", tokens="1B", device="h100", **keys)

    refused("utilisation=0.4 and mfu=0.3 say two things about the same; give one of them", utilisation=0.4, mfu=0.3)
    refused("utilisation=0 is not a share of the peak; use a number above 0, at most 1", utilisation=0)
    refused("mfu=33 is not a share of the peak", mfu=33)
    refused("mfu=nan is not a share of the peak", mfu=float("nan"))
    refused("price=-1 is not positive and finite", price=-1)
    with pytest.raises(ConfigError, match="p100 has no peak for dtype=bfloat16; use one of: float16, float32"):
        gf.plan("gpt2", tokens="1B", device="p100", job=gf.Job(dtype="bfloat16"))


def test_a_model_that_cannot_be_built_is_refused_as_it_is_when_counted() -> None:
    for ask in (gf.count, partial(gf.plan, tokens="1B", device="h100")):
        with pytest.raises(ConfigError, match="input='nothing' is unknown"):
            ask({"family": "encoder", "vocab_size": 50, "input": "nothing"})
