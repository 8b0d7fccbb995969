from __future__ import annotations

import signal
from contextlib import nullcontext
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import pytest

from glassformer.errors import FileError, InputError
from glassformer.runs import Run, locked
from glassformer.training import events, watch
from glassformer.training.begin import again, begin
from glassformer.training.board import Board
from glassformer.training.watch import NotShown, train_watched
from own_signals import send
from tiny_translator import tiny, trained


def status(run: Run) -> dict[str, str]:
    text = (run.folder / "status.txt").read_text(encoding="utf-8")
    return {line[:15].strip(): line[15:].strip() for line in text.splitlines()}


@pytest.mark.slow
def test_a_run_leaves_samples_pictures_and_its_status(tmp_path: Path) -> None:
    run, happened = trained(tmp_path / "run", tiny())
    assert [path.name for path in sorted(run.samples.iterdir())] == [
        "step-00000003.attention.safetensors",
        "step-00000003.json",
        "step-00000006.attention.safetensors",
        "step-00000006.json",
    ]
    assert {path.name for path in run.pictures.iterdir()} == {"loss_curves.png", "learning_rate.png", "dashboard.png"}
    assert (run.folder / "tensorboard").is_dir() == Board.is_installed()
    assert status(run)["state"] == "finished"
    assert status(run)["step"] == "6 / 6"
    evaluated = [event for event in happened if isinstance(event, events.Evaluated)]
    assert list(evaluated[-1].metrics) == ["loss", "accuracy", "perplexity", "sample_bleu", "exact"]
    lines = [line for line in run.log.read() if line["kind"] == "evaluation"]
    assert [line["sample_bleu"] for line in lines] == [event.metrics["sample_bleu"] for event in evaluated]
    assert not [event for event in happened if isinstance(event, NotShown)]


@pytest.mark.slow
def test_the_status_is_fresh_after_every_event(tmp_path: Path) -> None:
    job = begin(tiny(), tmp_path / "run")
    steps = []
    for event in train_watched(job):
        if isinstance(event, events.Logged | events.Saved):
            steps.append((status(job.run)["state"], status(job.run)["step"]))
    assert steps == [("running", f"{step} / 6") for step in (2, 3, 4, 6, 6)]


@pytest.mark.slow
def test_a_resumed_run_ends_with_the_same_curves(tmp_path: Path) -> None:
    whole, _ = trained(tmp_path / "whole", tiny())
    job = begin(tiny(), tmp_path / "parts")
    happening = train_watched(job)
    for event in happening:  # killed after step 5: line 4 is behind the checkpoint of step 3
        if isinstance(event, events.StepDone) and event.step == 5:
            break
    happening.close()  # type: ignore[attr-defined]
    list(train_watched(again(job.run.folder), resume=True))
    for name in ("loss", "sample_bleu", "exact"):
        assert [line.get(name) for line in job.run.log.read()] == [line.get(name) for line in whole.log.read()]
    for name in ("loss_curves", "learning_rate"):
        same = [(run.pictures / f"{name}.png").read_bytes() for run in (whole, job.run)]
        assert same[0] == same[1]


@pytest.mark.slow
def test_what_cannot_be_drawn_is_said_once_and_training_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = begin(tiny(), tmp_path / "run")
    job.run.pictures.rmdir()
    job.run.pictures.write_text("a file", encoding="utf-8")
    happened = list(train_watched(job))
    (failed,) = [event for event in happened if isinstance(event, NotShown)]
    assert failed.what == "pictures"
    assert isinstance(failed.error, FileError)
    assert happened[-1] == events.Stopped(6, "finished")


@pytest.mark.slow
def test_without_tensorboard_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch.Board, "is_installed", staticmethod(lambda: False))
    run, happened = trained(tmp_path / "run", tiny())
    assert not (run.folder / "tensorboard").exists()
    assert not [event for event in happened if isinstance(event, NotShown)]


@pytest.mark.slow
def test_a_failure_stands_in_the_status(tmp_path: Path) -> None:
    job = begin(tiny(best="sample_bleu"), tmp_path / "run")
    with pytest.raises(InputError, match=r"best='sample_bleu' is not among the metrics.*loss, accuracy, perplexity"):
        list(train_watched(replace(job, measure=None)))
    assert status(job.run)["state"] == "failed"
    assert "best='sample_bleu'" in status(job.run)["error"]


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    job = begin(tiny(), tmp_path / "run")
    with locked(job.run.folder), pytest.raises(FileError, match="is in use: another process trains there"):
        list(train_watched(job))
    assert not (job.run.folder / "status.txt").exists()


@pytest.mark.slow
def test_whoever_stops_looking_gives_the_folder_back(tmp_path: Path) -> None:
    job = begin(tiny(), tmp_path / "run")
    happening = train_watched(job)
    assert len(list(takewhile(lambda event: not isinstance(event, events.Saved), happening))) > 4
    happening.close()  # type: ignore[attr-defined]
    with locked(job.run.folder):
        assert job.run.last == job.run.checkpoint(3)


class SetClock:
    """Time that passes only in steps and in drawings, as much as the test says."""

    def __init__(self, step: float, drawing: float) -> None:
        self.now, self.step, self.drawing, self.drawn_at = 0.0, step, drawing, list[float]()

    def __call__(self) -> float:
        return self.now

    def draw(self, run: Run) -> None:
        self.drawn_at.append(self.now)
        self.now += self.drawing


def drawn_at(folder: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch, **train: int) -> list[float]:
    """When a run of 12 steps with 11 evaluations before the last is drawn."""
    monkeypatch.setattr(watch, "draw_run", clock.draw)
    job = replace(begin(tiny(steps=12, evaluate_every=1, **train), folder), measure=None)
    for event in train_watched(job, clock=clock):
        if isinstance(event, events.StepDone):
            clock.now += clock.step
    return clock.drawn_at


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "drawing", "when"),
    [
        (1.5, 1.0, [18.0]),  # over before 20 s have passed: only its end
        (5.0, 1.0, [20.0, 41.0, 62.0]),  # 20 s after the drawing that ended at 21 s; then the end
        (5.0, 0.1, [20.0, *(20.1 + 5 * n + 0.1 * (n - 1) for n in range(1, 8)), 60.8]),  # quick: at each evaluation
    ],
)
def test_drawing_takes_a_twentieth_of_a_run(
    step: float, drawing: float, when: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert drawn_at(tmp_path / "run", SetClock(step, drawing), monkeypatch) == pytest.approx(when)


@pytest.mark.slow
@pytest.mark.parametrize("reason", ["terminated", "failed"])
def test_the_end_is_drawn_however_it_came(reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SetClock(0.0, 1.0)
    monkeypatch.setattr(watch, "draw_run", clock.draw)
    job = begin(tiny(), tmp_path / "run")
    failing = replace(job, measure=None, config=tiny(best="sample_bleu"))
    happening = train_watched(failing if reason == "failed" else job, clock=clock)
    with pytest.raises(InputError) if reason == "failed" else nullcontext():
        for event in happening:
            if isinstance(event, events.StepDone) and event.step == 2 and reason == "terminated":
                send(signal.SIGTERM)
    assert (job.run.status["state"], len(clock.drawn_at)) == (reason, 1)


@pytest.mark.slow
def test_a_second_interruption_is_not_kept_waiting_by_a_drawing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SetClock(0.0, 1.0)
    monkeypatch.setattr(watch, "draw_run", clock.draw)
    job = begin(tiny(), tmp_path / "run")
    happening = train_watched(job, clock=clock)
    with pytest.raises(KeyboardInterrupt):
        for event in happening:
            if isinstance(event, events.StepDone):
                happening.throw(KeyboardInterrupt)  # type: ignore[attr-defined]
    assert clock.drawn_at == []
