from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.errors import InputError
from glassformer.models.build import build
from glassformer.runs import Run
from glassformer.tasks.translation.task import row_without_padding
from glassformer.training import train
from glassformer.training.room import fitting, full_step, needed
from small_run import job, run_config

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def large() -> RunConfig:
    return run_config({"d_model": 64, "d_ff": 256, "max_len": 64}, batch_tokens=65536)


def test_the_first_half_that_fits_is_found_and_takes_the_same_steps() -> None:
    config = large()
    half = replace(config, train=replace(config.train, batch_tokens=32768, accumulate=2 * config.train.accumulate))
    assert fitting(config, needed(half, CUDA), CUDA) == half
    found = fitting(config, needed(half, CUDA) - 1, CUDA)
    assert found is not None
    assert (found.train.batch_tokens, found.train.accumulate) == (16384, 4 * config.train.accumulate)
    assert needed(found, CUDA) < needed(half, CUDA)


def test_a_model_that_does_not_fit_at_all() -> None:
    assert fitting(large(), 1000, CUDA) is None


def test_a_translators_batch_without_padding_fills_its_row() -> None:
    config = large()
    narrow = replace(config, train=replace(config.train, precision="bf16"))
    packed, padded = full_step(narrow, CUDA), full_step(config, CUDA)
    assert packed.batch * packed.length == row_without_padding(65536, 64) > padded.batch * padded.length == 65536
    assert packed.length <= 64
    assert (packed.autocast, padded.autocast) == (True, False)
    assert full_step(replace(config, train=replace(config.train, precision="float32")), CUDA) == padded
    assert (full_step(narrow, CPU).batch, full_step(narrow, CPU).device) == (padded.batch, "cpu")


def test_the_step_is_counted_as_it_is_compiled_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default as the rule decides; what a compiler would compute again is held otherwise."""
    monkeypatch.setattr("glassformer.training.compile.missing_compiler", lambda device: None)
    config = large()
    yes, no = (replace(config, train=replace(config.train, compile=choice)) for choice in (True, False))
    assert [full_step(each, CUDA).compiled for each in (config, yes, no)] == [False, True, False]
    assert needed(config, CUDA) == needed(no, CUDA) > needed(yes, CUDA)
    long = replace(config, train=replace(config.train, steps=10**6))
    assert full_step(long, CUDA).compiled


def test_a_loss_that_no_kernel_computes_holds_all_logits() -> None:
    config = large()
    focal = replace(config, train=replace(config.train, loss=Choice("focal", {"gamma": 2.0})))
    assert (full_step(config, CUDA).loss, full_step(focal, CUDA).loss) == ("chunks", "whole")


def test_a_moving_average_is_another_copy_of_the_weights() -> None:
    config = large()
    weights = 4 * sum(p.numel() for p in build(config.model, device="meta").parameters())
    assert needed(replace(config, train=replace(config.train, ema=0.99)), CPU) - needed(config, CPU) == weights


@pytest.mark.parametrize(
    ("room", "said"), [(0, "use a smaller model or shorter examples"), (10**12, "the same steps fit with")]
)
def test_a_full_memory_is_one_line_and_the_run_says_so(
    room: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(nn.Module):
        def forward(self, *given: object) -> object:
            raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("glassformer.training.room.memory_of", lambda device: room)
    run = Run.create(tmp_path / "run", run_config(batch_tokens=512))
    given = job(run)
    monkeypatch.setattr(given.model, "forward", Full().forward)
    monkeypatch.setattr(given.model, "encode", Full().forward)
    with pytest.raises(InputError, match=f"the memory is full in step 1: .* {said}"):
        list(train(given))
    assert run.status["state"] == "failed" and said in str(run.status["error"])


def test_a_model_that_does_not_fit_is_one_line_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    given = job(Run.create(tmp_path / "run", run_config(batch_tokens=512)))
    monkeypatch.setattr(given.model, "to", full)
    with pytest.raises(InputError, match=r"the memory is full in step 0: .* use a smaller model"):
        list(train(given))
