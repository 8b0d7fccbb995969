from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import matplotlib
import pytest
from matplotlib.figure import Figure

from glassformer.errors import FileError, GlassformerWarning
from glassformer.files import write_json
from glassformer.runs import Run
from glassformer.show import theme
from glassformer.show.theme import FILE_THEME, SHARED
from glassformer.tasks.classification.task import Classification
from glassformer.tasks.samples import write_samples
from glassformer.tasks.translation.task import Translation
from glassformer.training import pictures
from glassformer.training.panels import MOST_POINTS, RunHistory, curve, schedule, thinned
from glassformer.training.pictures import draw_run, figures, hangul_font, save
from small_run import run_config

NAMES = ["loss_curves", "learning_rate", "dashboard"]


def lines(steps: int) -> Iterator[dict[str, Any]]:
    for step in range(10, steps + 1, 10):
        speed = {"learning_rate": step * 1e-5, "tokens_per_second": 4000.0}
        yield {"kind": "train", "step": step, "epoch": 0, "loss": None if step == 20 else 100 / step, **speed}
        if step % 50 == 0:
            yield {"kind": "evaluation", "step": step, "loss": 90 / step, "sample_bleu": step / 10, "exact": 0.25}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run.create(tmp_path / "run", run_config())
    for line in lines(100):
        run.log.append(line)
    return run


def size(path: Path) -> tuple[int, ...]:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


def texts(figure: Any) -> set[str]:
    found = set()
    for axes in figure.axes:
        legend = axes.get_legend()
        found |= {axes.get_title(loc="left") or axes.get_title(), axes.get_xlabel(), axes.get_ylabel()}
        found |= {text.get_text() for text in legend.get_texts()} if legend else set()
    return found - {""}


@pytest.mark.slow
def test_three_pictures_and_nothing_else(run: Run) -> None:
    paths = draw_run(run)
    assert [path.stem for path in paths] == NAMES
    assert sorted(run.pictures.iterdir()) == sorted(paths)
    assert [size(path) for path in paths] == [(880, 495), (880, 495), (1430, 1100)]


@pytest.mark.slow
def test_the_same_log_gives_the_same_pictures(run: Run) -> None:
    first = [path.read_bytes() for path in draw_run(run)]
    assert [path.read_bytes() for path in draw_run(run)] == first
    run.write_status({"state": "interrupted"})
    again = [path.read_bytes() for path in draw_run(run)]
    assert again[:2] == first[:2] and again[2] != first[2]  # the dashboard says how the run stands


def named(axes: Any) -> dict[str, Any]:
    """The lines of a panel that a legend names."""
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def test_the_curves_are_those_of_the_log() -> None:
    records = list(lines(100))
    found = named(figures(RunHistory(records), "en", Translation)["loss_curves"].axes[0])
    assert list(found["training"].get_xdata()) == [10, *range(30, 101, 10)]  # what was not finite is left out
    assert list(found["validation"].get_ydata()) == [90 / 50, 90 / 100]
    best = found["best so far: 0.900"]
    assert (list(best.get_xdata()), best.get_marker()) == ([100], "*")
    quality = named(panel(records, "Quality (validation)"))
    assert [list(line.get_ydata()) for line in quality.values()] == [[5, 10], [25, 25]]


def panel(records: list[dict[str, Any]], title: str, kind: Any = Translation) -> Any:
    board = figures(RunHistory(records), "en", kind)["dashboard"]
    return next(axes for axes in board.axes if title in (axes.get_title(loc="left"), axes.get_title()))


@pytest.mark.parametrize(("most", "scale"), [(5.0, "linear"), (500.0, "log")])
def test_a_loss_that_falls_far_has_an_axis_of_powers(most: float, scale: str) -> None:
    records = [{"kind": "train", "step": step, "loss": most / step} for step in (1, 2, 4)]
    records += [{"kind": "train", "step": 5, "loss": 1.0}]
    assert figures(RunHistory(records), "en", Translation)["loss_curves"].axes[0].get_yscale() == scale


def test_every_validation_is_marked() -> None:
    records = [{"kind": "evaluation", "step": step, "loss": 1 / step} for step in range(1, 9)]
    axes = figures(RunHistory(records), "en", Translation)["loss_curves"].axes[0]
    marked = [line for line in axes.get_lines() if line.get_marker() == "s"]
    assert [line.get_xdata()[0] for line in marked] == list(range(1, 9))


def test_the_rate_is_the_schedule_itself_with_a_short_warm_up() -> None:
    config = run_config(steps=1800, warmup=50, log_every=100)
    records = [{"kind": "train", "step": 100, "loss": 1.0, "learning_rate": 1e-3}]
    found = named(figures(RunHistory(records, config), "en", Translation)["learning_rate"].axes[0])
    steps, rates = (list(found["the schedule"].get_data()[i]) for i in (0, 1))
    assert steps[:50] == list(range(1, 51)) and steps[-1] == 1800
    assert rates[:50] == sorted(rates[:50]) and max(rates) == rates[49]
    assert rates == schedule(config)[1]
    assert list(found["in the log"].get_xdata()) == [100]


def test_the_dashboard_shows_the_whole_run(run: Run) -> None:
    """Loss, rate, gradient norm, speed, quality, attention, status with the machine, samples: #48 of the pictures."""
    write_json(run.folder / "environment.json", {"device": "a fast chip", "torch": "2.13"})
    write_samples(run, 100, [{"source": "하나", "target": "one", "translation": "won"}])
    board = figures(RunHistory.of(run, "en"), "en", Translation)["dashboard"]
    titles = {axes.get_title(loc="left") or axes.get_title() for axes in board.axes}
    curves = {"Loss", "Learning rate", "Gradient norm", "Speed (tokens per second)", "Quality (validation)"}
    assert curves | {"Status", "Samples (step 100)", "No attention map yet"} <= titles
    written = {text.get_text() for axes in board.axes for text in axes.texts}
    assert {"a fast chip", "running", "won", "하나"} <= written


def test_the_status_goes_on_below_and_cuts_no_number() -> None:
    value = "0.0038 now, 0.0031 at best (step 1,700,000,000)"
    story = replace(RunHistory(list(lines(100))), status={"validation loss": value})
    written = [text.get_text() for axes in figures(story, "en", Translation)["dashboard"].axes for text in axes.texts]
    assert value in " ".join(filter(None, written)) and value not in written


def test_a_metric_that_is_missing_is_an_empty_curve() -> None:
    assert curve([{"kind": "evaluation", "step": 1, "loss": 2.0}], "evaluation", "sample_bleu") == ([], [])


@pytest.mark.slow
def test_an_empty_log_can_be_drawn(tmp_path: Path) -> None:
    assert len(draw_run(Run.create(tmp_path / "run", run_config()))) == 3


def test_a_long_log_is_thinned_and_keeps_its_end() -> None:
    steps, values = thinned(range(1001), [float(i) for i in range(1001)])
    assert len(steps) <= MOST_POINTS + 1 and (steps[0], steps[-1], values[-1]) == (0, 1000, 1000.0)
    assert thinned([], []) == ([], [])
    assert thinned([1], [2.0]) == ([1], [2.0])


def test_the_words_are_those_of_the_language() -> None:
    english, korean = (
        texts(figures(RunHistory(list(lines(100))), lang, Translation)["dashboard"]) for lang in ("en", "ko")
    )
    assert {
        "Loss",
        "Learning rate",
        "Speed (tokens per second)",
        "nats per token",
        "training",
        "exactly right (%)",
        "step",
    } <= english
    assert {"손실", "학습률", "속도(초당 토큰)", "토큰당 손실(nat)", "학습", "완전 일치(%)", "스텝"} <= korean


@pytest.mark.slow
def test_without_a_hangul_font_the_words_are_english(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes instead of letters help nobody; and a glyph that is missing is a warning, so an error here."""
    for module in (pictures, theme):
        monkeypatch.setattr(module, "hangul_font", lambda: None)
    english = [path.read_bytes() for path in draw_run(run)]
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    assert [path.read_bytes() for path in draw_run(run)] == english


@pytest.mark.slow
def test_with_a_hangul_font_the_words_are_korean(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    if hangul_font() is None:
        pytest.skip("no Hangul font on this machine")
    english = [path.read_bytes() for path in draw_run(run)]
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    assert [path.read_bytes() for path in draw_run(run)] != english


def test_bold_titles_only_where_there_is_a_bold_font(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theme, "hangul_font", lambda: None)
    assert FILE_THEME.style_of_file("en")["axes.titleweight"] == "bold"
    monkeypatch.setattr(theme, "hangul_font", lambda: "NanumGothic")
    assert "axes.titleweight" not in FILE_THEME.style_of_file("ko")
    assert FILE_THEME.style_of_file("ko")["font.family"] == ["NanumGothic", "DejaVu Sans"]


def test_an_english_picture_has_hangul_in_its_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """The font that has it stands behind the other: English words look as they did."""
    monkeypatch.setattr(theme, "hangul_font", lambda: "NanumGothic")
    assert FILE_THEME.style_of_file("en")["font.family"] == ["DejaVu Sans", "NanumGothic"]


def test_letters_that_no_font_has_are_one_line_however_often_a_run_is_drawn(tmp_path: Path) -> None:
    def write_all() -> None:
        with theme.styled(FILE_THEME, "en"):
            figure = Figure()
            figure.text(0, 0, "\U0001f9ff\u1201\u1202")  # an amulet and two letters of Ethiopia
            save(figure, tmp_path / "letters.png")

    theme._warn_of_letters.cache_clear()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in range(3):
            write_all()
    assert [type(each.message) for each in heard] == [GlassformerWarning]
    assert "no font here has all the letters" in str(heard[0].message)


def test_any_other_warning_of_the_drawing_is_passed_on() -> None:
    with pytest.warns(UserWarning, match="something else"), theme.styled(FILE_THEME, "en"):
        warnings.warn("something else", UserWarning, stacklevel=1)


@pytest.mark.slow
def test_the_style_of_others_is_left_alone(run: Run) -> None:
    before = {key: matplotlib.rcParams[key] for key in (*SHARED, "font.family", "backend")}
    draw_run(run)
    assert {key: matplotlib.rcParams[key] for key in before} == before


def test_a_folder_that_cannot_be_written_is_one_line(run: Run) -> None:
    run.pictures.rmdir()
    run.pictures.write_text("a file", encoding="utf-8")
    with pytest.raises(FileError, match=r"loss_curves\.png cannot be written: "):
        draw_run(run)


def test_a_task_draws_its_own_metrics() -> None:
    records = [{"kind": "evaluation", "step": 1, "loss": 2.0, "accuracy": 0.5, "f1": 0.25}]
    board = figures(RunHistory(records), "en", Classification)["dashboard"]
    right, mean = named(panel(records, "Quality (validation)", Classification)).values()
    assert (list(right.get_ydata()), list(mean.get_ydata())) == ([50], [25])
    assert {"right (%)", "nats per text", "Speed (texts per second)"} <= texts(board)


def test_numbers_that_are_no_shares_have_an_axis_of_their_own() -> None:
    class Forecast(Translation):
        shown: ClassVar[Mapping[str, str]] = {"sample_bleu": "free"}

    axes = panel(list(lines(2000)), "Quality (validation)", Forecast)
    assert axes.get_ylim()[1] > 103
