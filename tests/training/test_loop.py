from __future__ import annotations

import json
import signal
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from glassformer.config.recipe import RunConfig
from glassformer.errors import FileError, InputError
from glassformer.losses import Sum
from glassformer.runs import Run, locked, read_weights
from glassformer.runs.manifest import sha256
from glassformer.tasks.translation.task import Translation
from glassformer.text import Frame
from glassformer.training import events, train
from glassformer.training.events import Event
from glassformer.training.parallel import Spread
from glassformer.training.state import TrainingState
from glassformer.training.validate import validate
from own_signals import send
from small_disk import no_file_larger_than
from small_run import examples, job, run_config, small_model, trained, translation

TIMES = ("tokens_per_second", "elapsed")


def of(kind: type, told: list[Event]) -> list[Any]:
    return [event for event in told if isinstance(event, kind)]


def log(run: Run) -> list[dict[str, Any]]:
    """Without the times, which are never the same."""
    return [{key: value for key, value in line.items() if key not in TIMES} for line in run.log.read()]


def weights(run: Run) -> str:
    assert run.last is not None
    return sha256(run.last / "model.safetensors")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Event]]:
    """One run of 12 steps, uninterrupted."""
    return trained(tmp_path_factory.mktemp("runs") / "whole", run_config())


def test_a_run_from_beginning_to_end(whole: tuple[Run, list[Event]]) -> None:
    _, told = whole
    assert [type(event).__name__ for event in told if not isinstance(event, events.StepDone)] == [
        "Started",
        *("Logged", "Saving", "Saved"),  # 3, 4
        *("Logged", "Evaluated", "Saving", "Saved"),  # 6: the best so far
        *("Saving", "Saved"),  # 8
        "Logged",  # 9
        *("Logged", "Evaluated", "Saving", "Saved"),  # 12
        "Stopped",
    ]
    assert told[-1] == events.Stopped(12, "finished")
    assert [event.step for event in of(events.StepDone, told)] == list(range(1, 13))
    assert of(events.Started, told)[0].resumed_from is None
    assert [event.best for event in of(events.Evaluated, told)] == [True, True]


def test_the_run_folder_tells_the_same(whole: tuple[Run, list[Event]]) -> None:
    run, told = whole
    lines = run.log.read()
    assert [(line["kind"], line["step"]) for line in lines] == [
        ("train", 3),
        ("train", 6),
        ("evaluation", 6),
        ("train", 9),
        ("train", 12),
        ("evaluation", 12),
    ]
    logged = of(events.Logged, told)
    assert [line["loss"] for line in lines if line["kind"] == "train"] == [event.loss for event in logged]
    assert logged[-1].loss < logged[0].loss
    assert logged[-1].tokens == of(events.StepDone, told)[-1].tokens > 0
    assert (run.status["state"], run.status["step"]) == ("finished", 12)
    assert run.environment["torch"] == torch.__version__
    assert run.best == run.last == run.checkpoint(12)
    assert json.loads((run.folder / "best.json").read_text())["metric"] == "loss"
    assert sorted(run.checkpoints_by_step()) == [4, 8, 12]  # 6 was the best, until 12 was


def test_the_weights_of_a_run_can_be_used(whole: tuple[Run, list[Event]]) -> None:
    run, _ = whole
    assert run.best is not None
    model = small_model(run.config)
    before = model.state_dict()["embedding.weight"].clone()
    model.load_state_dict(read_weights(run.best))
    assert not torch.equal(before, model.state_dict()["embedding.weight"])


@pytest.mark.slow
def test_the_same_seed_is_the_same_run(whole: tuple[Run, list[Event]], tmp_path: Path) -> None:
    run, _ = trained(tmp_path / "again", run_config())
    assert weights(run) == weights(whole[0])
    assert log(run) == log(whole[0])
    other, _ = trained(tmp_path / "other", run_config(seed=1))
    assert weights(other) != weights(run)


@pytest.mark.slow
def test_evaluating_more_often_changes_nothing_that_is_learned(whole: tuple[Run, list[Event]], tmp_path: Path) -> None:
    def measure(model: nn.Module, step: int) -> dict[str, float]:
        torch.rand(100)
        return {"bleu": float(step)}

    run = Run.create(tmp_path / "run", run_config(evaluate_every=1, save_every=5, log_every=2))
    told = list(train(job(run, measure=measure)))
    assert weights(run) == weights(whole[0])
    assert of(events.Evaluated, told)[3].metrics["bleu"] == 4.0


STOPS = [1, 2, 5, 8, 11]


@pytest.mark.slow
@pytest.mark.parametrize("ask", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_asked_to_stop_it_saves_and_goes_on_bit_for_bit(
    ask: signal.Signals, whole: tuple[Run, list[Event]], tmp_path: Path
) -> None:
    """Stopped after any step, resumed by a new model: the same weights, the same log, each step once."""
    run = Run.create(tmp_path / "run", run_config())
    for i, stop in enumerate(STOPS):
        told = []
        for event in train(job(run), resume=i > 0):
            told.append(event)
            if isinstance(event, events.StepDone) and event.step == stop:
                send(ask)
        reason = "interrupted" if ask is signal.SIGINT else "terminated"
        assert told[-1] == events.Stopped(stop, reason)
        assert run.last == run.checkpoint(stop)
        assert run.status["state"] == reason
    told = list(train(job(run), resume=True))
    assert of(events.Started, told)[0].resumed_from == run.checkpoint(11)
    assert of(events.EnvironmentChanged, told) == []
    assert weights(run) == weights(whole[0])
    assert log(run) == log(whole[0])
    assert sorted(run.checkpoints_by_step()) == [4, 8, 12]


def test_a_process_that_is_left_goes_on_from_its_last_checkpoint(
    whole: tuple[Run, list[Event]], tmp_path: Path
) -> None:
    """What was logged after the checkpoint is cut, and half-written saves are gone."""
    run = Run.create(tmp_path / "run", run_config())
    session = train(job(run))
    for event in session:
        if isinstance(event, events.StepDone) and event.step == 10:
            session.close()  # nothing is saved: as if it had been killed
    assert log(run)[-1]["step"] == 9
    (run.checkpoints_folder / ".tmp-step-00000010").mkdir()
    told = list(train(job(run), resume=True))
    started = of(events.Started, told)[0]
    assert (started.step, started.leftovers) == (8, (".tmp-step-00000010",))
    assert weights(run) == weights(whole[0])
    assert log(run) == log(whole[0])


def test_a_run_that_ended_has_nothing_left_to_do(whole: tuple[Run, list[Event]]) -> None:
    run, _ = whole
    before = weights(run)
    told = list(train(job(run), resume=True))
    assert [type(event) for event in told] == [events.Started, events.Stopped]
    assert weights(run) == before


@pytest.mark.slow
def test_a_run_may_be_made_longer(whole: tuple[Run, list[Event]], tmp_path: Path) -> None:
    longer = run_config(steps=16)
    expected, _ = trained(tmp_path / "longer", longer)
    run, _ = trained(tmp_path / "run", run_config())
    told = list(train(job(run, longer), resume=True))
    assert told[-1] == events.Stopped(16, "finished")
    assert weights(run) == weights(expected)  # the schedule here does not look at the number of steps


def test_a_run_is_not_begun_twice(whole: tuple[Run, list[Event]]) -> None:
    with pytest.raises(FileError, match="holds a run already; continue it with --resume"):
        next(train(job(whole[0])))


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config())
    with locked(run.folder), pytest.raises(FileError, match="run is in use"):
        next(train(job(run)))


def test_another_environment_is_said(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config())
    run.write_environment({"torch": "1.0", "threads": torch.get_num_threads()})
    told = list(train(job(run)))
    assert of(events.EnvironmentChanged, told)[0].differences == {"torch": ("1.0", torch.__version__)}
    assert run.environment["torch"] == torch.__version__


def test_patience_ends(tmp_path: Path) -> None:
    values = iter([5.0, 4.0, 6.0, 4.5, 1.0])
    run = Run.create(tmp_path / "run", run_config(evaluate_every=2, patience=2, best="perplexity"))
    told = list(train(job(run, measure=lambda model, step: {"perplexity": next(values)})))
    assert told[-1] == events.Stopped(8, "early")
    assert run.best == run.checkpoint(4)
    assert run.last == run.checkpoint(8)
    assert list(train(job(run, measure=lambda model, step: {}), resume=True))[-1] == events.Stopped(8, "early")


def test_a_metric_that_nobody_measures(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config(best="bleu"))
    with pytest.raises(
        InputError, match=r"best='bleu' is not among the metrics .* use one of: loss, accuracy, perplexity"
    ):
        list(train(job(run)))
    assert run.status["state"] == "failed" and "best='bleu'" in run.status["error"]


def test_the_moving_average_is_evaluated_and_kept(tmp_path: Path) -> None:
    run, told = trained(tmp_path / "run", run_config(ema=0.9))
    assert run.best is not None
    model = small_model(run.config)
    model.load_state_dict(read_weights(run.best))
    task = translation(run.config)
    found = validate(Spread.on_one(model, task), task, examples(20, seed=1), run.config.train, torch.device("cpu"))
    assert found["loss"] == pytest.approx(of(events.Evaluated, told)[-1].metrics["loss"], rel=1e-6)


def test_the_last_checkpoints_are_averaged(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config(average=2))
    model = small_model(run.config)
    told = list(train(job(run, model=model)))
    averaged = of(events.Averaged, told)[0]
    assert averaged.steps == (8, 12) and averaged.path == run.averaged
    mean = read_weights(averaged.path)["embedding.weight"]
    parts = [read_weights(run.checkpoint(step))["embedding.weight"] for step in (8, 12)]
    torch.testing.assert_close(mean, (parts[0] + parts[1]) / 2)
    assert run.log.read()[-1]["kind"] == "averaged" and "loss" in averaged.metrics
    assert torch.equal(model.state_dict()["embedding.weight"], parts[1])  # the model itself is as it was


@pytest.mark.slow
def test_an_interrupted_run_averages_the_same(tmp_path: Path) -> None:
    expected, _ = trained(tmp_path / "whole", run_config(average=2))
    run = Run.create(tmp_path / "run", run_config(average=2))
    for event in train(job(run)):
        if isinstance(event, events.StepDone) and event.step == 10:
            send(signal.SIGTERM)
    list(train(job(run), resume=True))
    files = [one.averaged_folder / "model.safetensors" for one in (run, expected)]
    assert sha256(files[0]) == sha256(files[1])


def test_a_metric_that_is_never_a_number_cannot_decide(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config(best="sample_bleu"))

    def measure(model: nn.Module, step: int) -> dict[str, float]:
        return {"sample_bleu": float("nan"), "exact": 0.5}

    with pytest.raises(InputError) as refused:
        list(train(job(run, measure=measure)))
    assert refused.value.in_language("en") == (
        "best='sample_bleu' is NaN at the first evaluation and can never tell which step is the best (BLEU, "
        "for example, where no reference has four words); use one of: loss, accuracy, perplexity, exact"
    )
    assert refused.value.in_language("ko").startswith("best='sample_bleu': 첫 평가의 값이 NaN이어서")
    assert run.status["state"] == "failed"
    assert not [line for line in run.log.read() if line["kind"] == "evaluation"]


def test_a_metric_that_is_nan_later_is_just_not_the_best(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config(best="sample_bleu"))

    def measure(model: nn.Module, step: int) -> dict[str, float]:
        return {"sample_bleu": 1.0 if step == 6 else float("nan")}

    told = list(train(job(run, measure=measure)))
    assert [event.best for event in of(events.Evaluated, told)] == [True, False]


def test_a_loss_of_nan_is_no_matter_of_the_metric(tmp_path: Path) -> None:
    class Lost(Translation):
        def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
            return {**super().metrics(sums), "loss": float("nan")}

    run = Run.create(tmp_path / "run", run_config())
    told = list(train(job(run, task=Lost(pad=0, source=Frame(end=2), target=Frame(1, 2)))))
    assert [event.best for event in of(events.Evaluated, told)] == [False, False]
    assert told[-1] == events.Stopped(12, "finished")


class Exploding(Translation):
    """Every loss is not a number."""

    def loss(self, model: nn.Module, batch: Any) -> Sum:
        found = super().loss(model, batch)
        return Sum(found.total * float("nan"), found.count)


def test_a_run_that_diverges_stops_clearly(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config(skip_limit=3))
    told: list[Event] = []
    with pytest.raises(InputError, match="no finite loss and gradient in 3 steps in a row, up to step 3; the last"):
        for event in train(job(run, task=Exploding(pad=0, source=Frame(end=2), target=Frame(1, 2)))):
            told.append(event)
    assert len(of(events.StepDone, told)) == 3
    assert run.status["state"] == "failed"


def test_skipped_steps_are_counted_in_the_log(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config(skip_limit=50, evaluate_every=0))
    told = list(train(job(run, task=Exploding(pad=0, source=Frame(end=2), target=Frame(1, 2)))))
    assert [event.skipped for event in of(events.Logged, told)] == [3, 6, 9, 12]


def test_a_full_disk_is_one_line_and_nothing_is_lost(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config(evaluate_every=0))
    session = train(job(run))
    with pytest.raises(FileError, match=r"step-00000008 cannot be written: .*; make room, or write somewhere else"):
        for event in session:
            if isinstance(event, events.Saving) and event.step == 8:
                with no_file_larger_than(3000):
                    next(session)
    assert sorted(path.name for path in run.checkpoints_folder.iterdir()) == ["step-00000004"]
    told = list(train(job(run), resume=True))
    assert of(events.Started, told)[0].step == 4
    assert told[-1] == events.Stopped(12, "finished")


@pytest.mark.slow
def test_a_damaged_checkpoint_is_told_and_the_run_is_the_same(whole: tuple[Run, list[Event]], tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config())
    for event in train(job(run)):
        if isinstance(event, events.StepDone) and event.step == 10:
            send(signal.SIGTERM)
    file = run.checkpoint(10) / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    told = list(train(job(run), resume=True))
    assert [event.path for event in of(events.CheckpointRefused, told)] == [run.checkpoint(10)]
    assert of(events.Started, told)[0].step == 8
    assert weights(run) == weights(whole[0])
    assert log(run) == log(whole[0])


def test_the_end_is_evaluated_too(tmp_path: Path) -> None:
    _, told = trained(tmp_path / "run", run_config(evaluate_every=5, steps=7))
    assert [event.step for event in of(events.Evaluated, told)] == [5, 7]


def test_a_kill_between_a_checkpoint_and_its_being_the_best(tmp_path: Path) -> None:
    run, _ = trained(tmp_path / "run", run_config())
    run.write_best({"step": 6})
    assert run.best is None
    list(train(job(run), resume=True))
    assert run.best == run.checkpoint(12)


def test_without_validation_nothing_is_evaluated(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config())
    told = list(train(job(run, validation=None)))
    assert of(events.Evaluated, told) == [] and run.best is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
@pytest.mark.filterwarnings("ignore")  # torch's own compiler warns about itself
@pytest.mark.parametrize(
    "keys", [{}, {"compile": True, "precision": "bf16", "chunk": 64}, {"precision": "fp16"}], ids=str
)
def test_an_accelerator_learns_and_goes_on(keys: dict[str, Any], tmp_path: Path) -> None:
    config = run_config(device="cuda", evaluate_every=4, **keys)
    run = Run.create(tmp_path / "run", config)
    for event in train(job(run)):
        if isinstance(event, events.StepDone) and event.step == 7:
            send(signal.SIGTERM)
    told = list(train(job(run), resume=True))
    assert of(events.Started, told)[0].step == 7
    lines = [line for line in run.log.read() if line["kind"] == "train"]
    assert lines[-1]["loss"] < lines[0]["loss"]
    assert list(read_weights(run.checkpoint(12))) == sorted(small_model(run.config).state_dict())


def test_batches_prepared_ahead_change_nothing_and_their_thread_ends(
    whole: tuple[Run, list[Event]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was prepared and not taken when a run stops is prepared again: no batch is left out, none comes twice."""
    monkeypatch.setattr(TrainingState, "prepares_ahead", True)
    run = Run.create(tmp_path / "run", whole[0].config)
    for event in train(job(run)):
        if isinstance(event, events.StepDone) and event.step == 7:
            send(signal.SIGTERM)
    assert not any(thread.name == "batches" for thread in threading.enumerate())
    list(train(job(run), resume=True))
    assert not any(thread.name == "batches" for thread in threading.enumerate())
    assert weights(run) == weights(whole[0])


def test_threads_and_deterministic_mode(tmp_path: Path) -> None:
    run, told = trained(tmp_path / "run", run_config(threads=1, deterministic=True))
    assert told[-1] == events.Stopped(12, "finished")
    assert run.environment["threads"] == 1


def test_whatever_goes_wrong_is_in_the_status(tmp_path: Path) -> None:
    def measure(model: nn.Module, step: int) -> dict[str, float]:
        raise KeyboardInterrupt

    run = Run.create(tmp_path / "run", run_config())
    given = job(run, measure=measure)
    with pytest.raises(KeyboardInterrupt):
        list(train(given))
    assert given.model.training  # as before the evaluation
    assert (run.status["state"], run.status["error"]) == ("failed", "KeyboardInterrupt")


def test_a_job_may_bring_its_own_recipe(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config())
    assert replace(job(run), config=None).recipe == run.config
    assert job(run, run_config(steps=3)).recipe.train.steps == 3


@pytest.mark.slow
def test_a_longer_run_forgets_the_mean_of_the_shorter(tmp_path: Path) -> None:
    run, _ = trained(tmp_path / "run", run_config(average=2))
    assert run.averaged is not None
    lines = [record for record in run.log.read() if record["kind"] == "averaged"]
    list(train(job(run), resume=True))  # nothing is left to do, and nothing is written twice
    assert [record for record in run.log.read() if record["kind"] == "averaged"] == lines
    longer = replace(run.config, train=replace(run.config.train, steps=run.config.train.steps + 8))
    (run.folder / "config.toml").write_text(longer.to_toml(), encoding="utf-8")
    run = Run.open(run.folder)
    events_seen = train(job(run), resume=True)
    next(event for event in events_seen if isinstance(event, events.StepDone))
    assert run.averaged is None
    list(events_seen)
    assert run.averaged is not None
    assert [record["step"] for record in run.log.read() if record["kind"] == "averaged"] == [longer.train.steps]


def test_clipping_can_be_turned_off(tmp_path: Path) -> None:
    config = RunConfig.from_dict(run_config(clip=0).to_dict())
    assert config.train.clip == 0.0
    trained(tmp_path / "run", config)


def test_an_evaluation_is_written_down_before_its_samples(tmp_path: Path) -> None:
    run, written = Run.create(tmp_path / "run", run_config(steps=4, evaluate_every=2)), []

    def show(model: nn.Module, step: int) -> dict[str, float]:
        assert not model.training and not torch.is_grad_enabled()
        written.append([line["step"] for line in run.log.read() if line["kind"] == "evaluation"])
        return {}

    list(train(job(run, show=show)))
    assert written == [[2], [2, 4]]
