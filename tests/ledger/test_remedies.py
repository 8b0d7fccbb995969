from __future__ import annotations

import glassformer as gf


def test_changes_that_help() -> None:
    tight = gf.plan("llama3-8b", tokens="1B", device="h100", job=gf.Job(devices=8, parallel="ddp"))
    assert not tight.fits
    assert tight.remedies == ("--parallel fsdp",)
    long = gf.plan("llama3-8b", tokens="1B", device="h100", job=gf.Job(devices=8, batch=8, length=2048))
    assert "--batch 1" in long.remedies
    assert not [words for words in long.remedies if words.startswith("--devices")]  # activations stay where they are
    few = gf.plan("llama3-8b", tokens="1B", device="h100", job=gf.Job(devices=1))
    assert "--devices 4" in few.remedies


def test_where_it_fits_there_is_nothing_to_mend() -> None:
    assert gf.plan("gpt2", tokens="1B", device="h100").remedies == ()


def test_everything_together_or_nothing() -> None:
    job = gf.Job(devices=8, length=8192)
    together = gf.plan("llama3-405b", tokens="1B", device="h200", job=job)
    assert together.remedies == ("--parallel fsdp --checkpointing full --batch 1 --devices 128",)
    enough = gf.Job(devices=128, length=8192, checkpointing="full")
    assert gf.plan("llama3-405b", tokens="1B", device="h200", job=enough).fits
    assert gf.plan("llama3-405b", tokens="1B", device="t4", job=job).remedies == ()
