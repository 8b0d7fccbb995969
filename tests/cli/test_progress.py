from __future__ import annotations

import io
import math
import re
from pathlib import Path

import pytest
from rich.console import Console

from glassformer.cli import progress
from glassformer.cli.progress import Display, farewell, line, remember, show
from glassformer.errors import FileError
from glassformer.files import write_json
from glassformer.runs import Run
from glassformer.tasks import TASKS
from glassformer.tasks.samples import samples_file
from glassformer.training import events
from glassformer.training.events import Event
from glassformer.training.start import TakenWeights
from glassformer.training.watch import NotShown
from glassformer.words import sentences
from small_run import job, run_config

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run.create(tmp_path / "a run", run_config(steps=100))
    sample = {"source": "나는 학교에 간다", "target": "I go to school", "translation": "I go [bold]home"}
    write_json(samples_file(run, 50), [sample])
    return run


def story(run: Run) -> list[Event | NotShown]:
    return [
        events.Started(40, 100, 12345, "cpu", run.checkpoint(40), ()),
        *(events.StepDone(step, 1, 1e-3, 10 * step) for step in range(41, 51)),
        events.Logged(50, 1, 3.25, 1e-3, 0.5, 500, 4321.0, 0, 9.0),
        events.Evaluated(50, {"loss": 3.0, "sample_bleu": 12.34}, True),
        NotShown("pictures", FileError("disk", path="p", why="full")),
        events.Saving(50),
        events.Saved(50, run.checkpoint(50)),
        events.Stopped(50, "interrupted"),
    ]


def seen(run: Run, *, terminal: bool, quiet: bool = False) -> tuple[str, dict[str, object]]:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=100, highlight=False, markup=False, emoji=False)
    last = show(story(run), job(run), quiet=quiet, console=console)
    return file.getvalue(), last


def test_a_metric_that_says_nothing_is_a_dash_and_a_lost_loss_is_not() -> None:
    said = line(events.Evaluated(50, {"loss": math.nan, "sample_bleu": math.nan, "exact": 0.0}, False))
    assert "BLEU of the samples –, exactly right 0" in said and "loss nan" in said


def test_without_a_terminal_every_event_is_a_plain_line(run: Run) -> None:
    text, _ = seen(run, terminal=False)
    assert text.splitlines() == [
        f"goes on from step 40 ({run.checkpoint(40)})",
        "step 50: loss 3.2500, learning rate 1.00e-03, 4,321 tokens/s",
        "step 50, validation: loss 3, BLEU of the samples 12.34 (best so far)",
        "pictures: not kept up to date from here on (p cannot be written: full; make room, or write somewhere else); "
        "training goes on",
        "stopped by you at step 50; all is saved, --resume goes on",
        f"run: {run.folder}",
    ]


@pytest.mark.parametrize(
    ("lang", "end"),
    [("en", "tokens/s, 41.5 % of the ceiling, waiting for data 2.0 %"), ("ko", "상한의 41.5%, 데이터 대기 2.0%")],
)
def test_on_an_accelerator_a_line_says_how_well_it_is_used(
    lang: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    event = events.Logged(50, 1, 3.25, 1e-3, 0.5, 500, 4321.0, 0, 9.0, waiting=0.02, of_ceiling=0.415)
    assert line(event).endswith(end)
    last: dict[str, object] = {}
    remember(last, event)
    assert (last["waiting"], last["of_ceiling"]) == (0.02, 0.415)


def test_on_a_terminal_the_lines_of_the_log_are_in_the_display(run: Run) -> None:
    text = ESCAPES.sub("", seen(run, terminal=True)[0])
    assert "step 50: loss" not in text
    for part in ("50/100", "loss 3.250 · 4,321 tokens/s · BLEU 12.3", "left", "나는 학교에 간다", "I go [bold]home"):
        assert part in text
    assert "stopped by you at step 50" in text


@pytest.mark.parametrize("columns", [30, 40, 60, 80, 200])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_step_and_the_time_left_are_there_in_every_width(
    run: Run, columns: int, lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    console = Console(file=io.StringIO(), force_terminal=True, width=columns, highlight=False, markup=False)
    display = Display(console, job(run))
    for event in story(run)[:13]:
        display.see(event)
    console.print(display)
    lines = ESCAPES.sub("", console.file.getvalue()).splitlines()  # type: ignore[attr-defined]
    first = " ".join(lines[0].split())
    assert re.search(r"50/100 [\d:-]+ " + {"en": "left", "ko": "남음"}[lang] + "$", first)
    rest = " ".join(" ".join(lines[1:]).split())
    assert "3.250 · " in rest and "4,321" in rest and "12.34" in rest
    assert "I go [bold]home" in rest
    assert "…" not in rest


def test_the_display_speaks_korean(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    text = ESCAPES.sub("", seen(run, terminal=True)[0])
    for part in ("손실 3.250 · 초당 토큰 4,321 · BLEU 점수 12.3", "남음", "입력", "정답", "출력", "실행 폴더:"):
        assert part in text


def test_quiet_means_nothing_at_all(run: Run) -> None:
    text, last = seen(run, terminal=True, quiet=True)
    assert text == ""
    assert last == {
        "step": 50,
        "loss": 3.25,
        "tokens_per_second": 4321.0,
        "metrics": {"loss": 3.0, "sample_bleu": 12.34},
        "best": {"step": 50, "loss": 3.0, "sample_bleu": 12.34},
        "reason": "interrupted",
    }


def test_the_time_that_remains_is_not_that_of_an_earlier_session(run: Run) -> None:
    display = Display(Console(file=io.StringIO()), job(run))
    display.see(story(run)[0])
    (task,) = display.bar.tasks
    assert (task.completed, task.total, task.speed) == (40, 100, None)


def test_a_display_without_a_sample_is_the_bar_alone(run: Run) -> None:
    display = Display(Console(file=io.StringIO()), job(run))
    assert display.__rich__() is display.bar


def test_the_mean_of_checkpoints_is_remembered(run: Run) -> None:
    last: dict[str, object] = {}
    averaged = events.Averaged(run.averaged_folder, (1, 2), {"loss": 1.0})
    remember(last, averaged)
    assert last == {"averaged": {"loss": 1.0}}
    assert line(averaged) == "mean of the last 2 checkpoints written"


def start(*new: str) -> TakenWeights:
    return TakenWeights(model="runs/fill", checkpoint="averaged", taken=("x", "y"), new=new, left=())


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (events.Started(0, 1500, 1015808, "cpu", None, ()), "1,015,808 parameters, 1,500 steps, on cpu"),
        (events.EnvironmentChanged({"torch": ("2.11", "2.13")}), "torch: 2.11 → 2.13"),
        (
            events.CheckpointRefused(Path("c"), FileError("disk", path="c", why="gone"), Path("b")),
            "c cannot be written: gone",
        ),
        (events.StartedFrom(start()), "starts from runs/fill (averaged): 2 tensors taken; new here: none"),
        (
            events.StartedFrom(start("a", "b", "c", "d", "e")),
            "starts from runs/fill (averaged): 2 tensors taken; new here: a, b, c, d, …",
        ),
        (events.Evaluated(5, {"loss": 3.0}, False), "step 5, validation: loss 3"),
        (events.Stopped(5, "terminated"), "asked to stop at step 5; all is saved, --resume goes on"),
        (events.Stopped(5, "early"), "stopped at step 5: validation has not improved for a while"),
        (NotShown("tensorboard", OSError("full")), "TensorBoard: not kept up to date from here on (full)"),
        (NotShown("status", OSError("full")), "status.txt: not kept up to date"),
        (events.Saving(5), ""),
        (events.Saved(5, Path("c")), ""),
    ],
)
def test_an_event_in_one_line(event: Event | NotShown, text: str) -> None:
    assert (text in line(event)) if text else (line(event) == "")


def test_an_error_is_said_in_one_line_of_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "(two lines)" in line(NotShown("status", OSError("two\nlines")))
    assert "(RuntimeError)" in line(NotShown("status", RuntimeError()))
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    error = FileError("disk", path="p", why="full")
    assert error.in_language("ko") in line(NotShown("pictures", error))
    assert error.in_language("ko") in line(events.CheckpointRefused(Path("p"), error, Path("o")))


def test_nothing_to_try_before_there_is_a_checkpoint(run: Run) -> None:
    assert farewell(run, 50) == [f"run: {run.folder}"]


@pytest.mark.parametrize("quiet", [True, False])
def test_one_is_told_what_is_waited_for(quiet: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.preparing(quiet=quiet):
        pass
    assert capsys.readouterr().out == ("" if quiet else "reading and preparing the data …\n")


METRICS = {  # of every task that the package brings
    *("loss", "accuracy", "perplexity", "sample_bleu", "exact", "f1", "masked_accuracy", "bits_per_character"),
    *("mse", "mae", "persistence", "found", "box_overlap", "false_alarms", "right"),
}


def test_the_log_names_every_metric_in_the_language_of_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    said = line(events.Evaluated(5, dict.fromkeys(sorted(METRICS), 0.5), False))
    assert {"손실 0.5", "정확도 0.5", "퍼플렉시티 0.5"} <= set(said.split(": ", 1)[1].split(", "))
    assert not any(f"{name} 0.5" in said for name in METRICS)


def test_a_metric_of_somebody_elses_task_keeps_its_name() -> None:
    assert line(events.Evaluated(5, {"rouge": 0.5}, False)) == "step 5, validation: rouge 0.5"


def test_the_metrics_of_the_package_are_those_that_its_tasks_measure() -> None:
    """What no task measures needs no name, and what one measures has one in both languages."""
    named = {key.removeprefix("train.metrics.") for key in sentences("ko") if key.startswith("train.metrics.")}
    shown = {name for kind in TASKS.values() for name in kind.task.shown}
    assert shown <= METRICS == named
