from __future__ import annotations

from dataclasses import replace

import pytest

import glassformer as gf
from glassformer.formula import evaluate_formula
from glassformer.ledger.fitting import memory_per_device, peak
from glassformer.ledger.job import Job
from glassformer.models.presets import PRESETS

N = 124_439_808  # gpt2
GPT2 = PRESETS["gpt2"]()


def sizes(job: Job) -> dict[str, int]:
    return {item.name: item.bytes for item in memory_per_device(GPT2, job)}


def test_gpt2_on_eight_devices_by_hand() -> None:
    found = sizes(Job(devices=8, parallel="ddp", batch=12, length=1024))
    tokens = 12 * 1024
    block = 2 * 768 * 2 + 16  # inputs of two norms, their means and deviations in float32
    block += 3 * 768 * 2 + 12 * 4 + 768 * 2  # q, k, v; logsumexp; input of w_o
    block += 3072 * 2  # input of the activation; what comes out of norms and activation is computed again
    block += 2 * 768  # two masks of dropout, a byte each
    outside = 768 + (768 * 2 + 8) + 768 * 2  # dropout behind the embedding; final norm; slopes along the stream
    joined = 3 * 768 * 768 * 2  # q, k and v are one product, so their matrices are copied into one
    width, rows = 50304, 2**28 // 50304  # of a chunk of logits
    assert found == {
        "weights": 2 * N,
        "master_weights": 4 * N,
        "gradients": 4 * N,
        "optimizer_state": 8 * N,
        "activations": tokens * (12 * block + outside) + 12 * joined + 8 * 1024 + width * 768 * 4,
        "logits": tokens * 768 * 2 + width * 768 * 2 + rows * width * 2,  # the stream, the matrix, a chunk
        "block_at_work": tokens * 2 * 3072 * 2,
        "communication": 4 * N,
    }


def test_a_whole_loss_holds_all_logits_and_three_gradients() -> None:
    job = {"devices": 8, "parallel": "ddp", "batch": 12, "length": 1024}
    chunks, whole = sizes(Job(**job)), sizes(Job(**job, loss="whole"))
    assert whole["logits"] == 12 * 1024 * 50257 * (2 + 3 * 4)
    assert chunks["activations"] - whole["activations"] == 50304 * 768 * 4  # the slopes of the matrix wait, too
    assert {**chunks, "logits": 0, "activations": 0} == {**whole, "logits": 0, "activations": 0}


def test_fsdp_spreads_the_states() -> None:
    whole, spread = sizes(Job(batch=2)), sizes(Job(batch=2, devices=64))
    assert whole["weights"] == 2 * N
    assert "weights" not in spread
    for name in ("master_weights", "gradients", "optimizer_state"):
        assert spread[name] == whole[name] // 64
    assert spread["activations"] == whole["activations"]
    assert "communication" not in whole
    block = 12 * 768**2 + 13 * 768
    assert spread["communication"] == 2 * (N - 12 * block) + 2 * block * 2 + block * 6


def test_gradients_stay_whole_between_micro_batches_without_sync() -> None:
    job = {"devices": 8, "precision": "pure", "no_sync": True}
    assert sizes(Job(**job, accumulate=4))["gradients"] == 4 * N
    assert sizes(Job(**job))["gradients"] == 2 * N // 8  # one micro-batch: nothing to wait for


@pytest.mark.parametrize(("optimizer", "numbers"), [("adamw", 2), ("lion", 1), ("momentum", 1)])
def test_optimisers_keep_what_they_keep(optimizer: str, numbers: int) -> None:
    assert sizes(Job(optimizer=optimizer))["optimizer_state"] == numbers * 4 * N
    assert sizes(Job(optimizer=optimizer, precision="pure"))["optimizer_state"] == numbers * 2 * N
    assert "optimizer_state" not in sizes(Job(optimizer="sgd"))


@pytest.mark.many
@pytest.mark.parametrize("preset", PRESETS)
def test_formulas_give_the_bytes(preset: str) -> None:
    for checkpointing in ("none", "full"):
        items = memory_per_device(PRESETS[preset](), Job(devices=8, length=16, checkpointing=checkpointing))
        for item in items:
            assert evaluate_formula(item.numbers, {}) == item.bytes > 0
        assert peak(items) == sum(item.bytes for item in items if item.counted)
        assert len([item for item in items if not item.counted]) <= 1


def test_of_logits_and_block_the_larger_counts() -> None:
    for batch_of_one_word, loser in ((50257, "block_at_work"), (8, "logits")):
        config = PRESETS["gpt2"]().__class__.from_dict({**GPT2.to_dict(), "vocab_size": batch_of_one_word})
        items = memory_per_device(config, Job(checkpointing="full"))
        assert [item.name for item in items if not item.counted] == [loser]


def test_changes_that_help() -> None:
    tight = gf.plan("llama3-8b", tokens="1B", device="h100", job=gf.Job(devices=8, parallel="ddp"))
    assert not tight.fits
    assert tight.remedies == ("--parallel fsdp",)
    long = gf.plan("llama3-8b", tokens="1B", device="h100", job=gf.Job(devices=8, batch=12, length=2048))
    assert "--batch 1" in long.remedies
    assert not [words for words in long.remedies if words.startswith("--devices")]  # activations stay where they are
    few = gf.plan("llama3-8b", tokens="1B", device="h100", job=gf.Job(devices=1))
    assert "--devices 4" in few.remedies


def test_where_it_fits_there_is_nothing_to_mend() -> None:
    assert gf.plan("gpt2", tokens="1B", device="h100").remedies == ()


def test_everything_together_or_nothing() -> None:
    job = gf.Job(devices=8, length=8192)
    together = gf.plan("llama3-405b", tokens="1B", device="h200", job=job)
    assert together.remedies == ("--parallel fsdp --checkpointing full --batch 1 --devices 256",)
    enough = gf.Job(devices=256, length=8192, checkpointing="full")
    assert gf.plan("llama3-405b", tokens="1B", device="h200", job=enough).fits
    fewer = gf.plan("llama3-405b", tokens="1B", device="h200", job=replace(enough, devices=128))
    assert "--loss whole" in fewer.remedies  # the slopes of its matrix are more than the logits of one text
    assert gf.plan("llama3-405b", tokens="1B", device="t4", job=job).remedies == ()
