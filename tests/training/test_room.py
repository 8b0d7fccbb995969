from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from glassformer.config.recipe import RunConfig
from glassformer.errors import InputError
from glassformer.runs import Run
from glassformer.training import train
from glassformer.training.room import fitting, plan_of
from small_run import job, run_config


def large() -> RunConfig:
    return run_config({"d_model": 64, "d_ff": 256, "max_len": 64}, batch_tokens=65536)


def test_the_first_half_that_fits_is_found_and_takes_the_same_steps() -> None:
    config = large()
    half = replace(config, train=replace(config.train, batch_tokens=32768, accumulate=2 * config.train.accumulate))
    assert fitting(config, plan_of(half).memory_bytes) == half
    found = fitting(config, plan_of(half).memory_bytes - 1)
    assert found is not None
    assert (found.train.batch_tokens, found.train.accumulate) == (16384, 4 * config.train.accumulate)
    assert plan_of(found).memory_bytes < plan_of(half).memory_bytes


def test_a_model_that_does_not_fit_at_all() -> None:
    assert fitting(large(), 1000) is None


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
