from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from glassformer.config.recipe import RunConfig
from glassformer.ledger.job import Job
from glassformer.ledger.work import work
from glassformer.models.build import build
from glassformer.runs import Run
from glassformer.tasks import kind_of
from glassformer.training import events, train
from glassformer.training.device_use import DeviceUse, flops_for_a_target
from glassformer.training.state import TrainingState
from small_run import examples, job, run_config, small_model, trained, translation
from tiny_tasks import TINY

CPU = torch.device("cpu")


def small() -> TrainingState:
    config = run_config()
    return TrainingState.begin(config, small_model(config), translation(config), examples(), CPU)


@pytest.mark.parametrize("name", TINY)
def test_every_task_has_flops_for_a_target(name: str) -> None:
    material = kind_of(RunConfig.from_dict(TINY[name])).task.begin(RunConfig.from_dict(TINY[name]))
    config = material.config
    state = TrainingState.begin(config, build(config.model, seed=0), material.task, material.training, CPU)
    assert flops_for_a_target(state) > 0


def test_flops_are_those_of_the_ledger_at_the_mean_length() -> None:
    state = small()
    batch, indexes = state.next_batch()
    source, target = (round(float(x)) for x in state.store.lengths[indexes].mean(axis=0) + state.task.extra_tokens)
    mean = Job(batch=len(indexes), length=source, target_length=target)
    assert flops_for_a_target(state) == work(state.config.model, mean).model / batch.count


def test_looking_at_the_next_batch_takes_nothing() -> None:
    state = small()
    first, _ = state.next_batch()
    assert torch.equal(first.source, state.next_batch()[0].source)  # type: ignore[attr-defined]
    state.advance()
    other = small()
    other.advance()
    assert all(torch.equal(a, b) for a, b in zip(state.model.parameters(), other.model.parameters(), strict=True))
    assert state.progress == other.progress


def test_shares_are_of_the_time_since_the_last_line() -> None:
    state = small()
    use = DeviceUse(flops=10.0, ceiling=1000.0)
    assert use.shares(state, targets=50, seconds=2.0) == (0.0, 0.25)
    use = DeviceUse(flops=10.0, ceiling=1000.0, waited=-0.5)
    assert use.shares(state, targets=50, seconds=2.0) == (0.25, 0.25)
    assert use.shares(state, targets=0, seconds=2.0) == (0.0, 0.0)  # what was waited before is counted once


def test_on_the_cpu_nothing_is_measured_and_the_log_is_as_before(tmp_path: Path) -> None:
    assert DeviceUse.of(small()) is None
    run, told = trained(tmp_path / "run", run_config())
    lines = [line for line in run.log.read() if line["kind"] == "train"]
    assert lines and not any({"waiting", "of_ceiling"} & set(line) for line in lines)
    assert all(event.waiting is None for event in told if isinstance(event, events.Logged))
    assert 0 < run.status["first_step"] < run.status["elapsed"]
    assert "peak_memory" not in run.status


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_measuring_leaves_the_random_numbers_alone() -> None:
    config = run_config(device="cuda", compile=False)
    place = torch.device("cuda")
    state = TrainingState.begin(config, small_model(config), translation(config), examples(), place)
    before = torch.cuda.get_rng_state(place)
    use = DeviceUse.of(state)
    assert use is not None and use.ceiling > 1e12
    assert torch.equal(before, torch.cuda.get_rng_state(place))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_a_line_on_an_accelerator_says_both_shares(tmp_path: Path) -> None:
    run, _ = trained(tmp_path / "run", run_config(device="cuda", compile=False))
    lines = [line for line in run.log.read() if line["kind"] == "train"]
    assert lines and all(0 <= line["waiting"] <= 1 and 0 < line["of_ceiling"] < 1 for line in lines)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_the_status_has_the_peak_of_training_and_not_of_evaluation(tmp_path: Path) -> None:
    def measure(model: torch.nn.Module, step: int) -> dict[str, float]:
        torch.empty(2**30, dtype=torch.uint8, device="cuda")
        return {}

    config = run_config(device="cuda", compile=False, evaluate_every=4)
    run = Run.create(tmp_path / "run", config)
    list(train(replace(job(run), measure=measure)))
    weights = 4 * sum(parameter.numel() for parameter in small_model(config).parameters())
    assert 4 * weights < run.status["peak_memory"] < 2**30
