from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import matplotlib
import pytest

from glassformer.errors import FileError
from glassformer.runs import Run
from glassformer.tasks import Classification, Translation
from glassformer.train import pictures
from glassformer.train.pictures import STYLE, curve, draw, figures, hangul_font, style
from small_run import run_config

NAMES = ["loss_curves", "learning_rate", "dashboard"]


def lines(steps: int) -> Iterator[dict[str, Any]]:
    for step in range(10, steps + 1, 10):
        speed = {"learning_rate": step * 1e-5, "tokens_per_second": 4000.0}
        yield {"kind": "train", "step": step, "epoch": 0, "loss": None if step == 20 else 100 / step, **speed}
        if step % 50 == 0:
            yield {"kind": "evaluation", "step": step, "loss": 90 / step, "sample_bleu": step / 10, "exact": 0.25}


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")


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


def test_three_pictures_and_nothing_else(run: Run) -> None:
    paths = draw(run)
    assert [path.stem for path in paths] == NAMES
    assert sorted(run.pictures.iterdir()) == sorted(paths)
    assert [size(path) for path in paths] == [(880, 495), (880, 495), (1210, 770)]


def test_the_same_log_gives_the_same_pictures(run: Run) -> None:
    first = [path.read_bytes() for path in draw(run)]
    run.write_status({"state": "interrupted"})
    assert [path.read_bytes() for path in draw(run)] == first


def test_the_curves_are_those_of_the_log() -> None:
    records = list(lines(100))
    training, validation, best = figures(records, "en", Translation)["loss_curves"].axes[0].get_lines()
    assert list(training.get_xdata()) == [10, *range(30, 101, 10)]  # what was not finite is left out
    assert list(validation.get_ydata()) == [90 / 50, 90 / 100]
    assert (list(best.get_xdata()), best.get_label()) == ([100], "best so far: 0.900")
    board = figures(records, "en", Translation)["dashboard"]
    assert len(board.axes) == 4
    score, right = board.axes[3].get_lines()
    assert (list(score.get_ydata()), list(right.get_ydata())) == ([5, 10], [25, 25])


def test_a_metric_that_is_missing_is_an_empty_curve() -> None:
    assert curve([{"kind": "evaluation", "step": 1, "loss": 2.0}], "evaluation", "sample_bleu") == ([], [])


def test_an_empty_log_can_be_drawn(tmp_path: Path) -> None:
    assert len(draw(Run.create(tmp_path / "run", run_config()))) == 3


def test_many_points_are_not_marked_one_by_one() -> None:
    markers = [
        figures(list(lines(n)), "en", Translation)["dashboard"].axes[3].get_lines()[0].get_marker() for n in (100, 2000)
    ]
    assert markers == ["o", ""]


def test_the_words_are_those_of_the_language() -> None:
    english, korean = (texts(figures(list(lines(100)), lang, Translation)["dashboard"]) for lang in ("en", "ko"))
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


def test_without_a_hangul_font_the_words_are_english(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes instead of letters help nobody; and a glyph that is missing is a warning, so an error here."""
    english = [path.read_bytes() for path in draw(run)]
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    monkeypatch.setattr(pictures, "hangul_font", lambda: None)
    assert [path.read_bytes() for path in draw(run)] == english


def test_with_a_hangul_font_the_words_are_korean(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    if hangul_font() is None:
        pytest.skip("no Hangul font on this machine")
    english = [path.read_bytes() for path in draw(run)]
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    assert [path.read_bytes() for path in draw(run)] != english


def test_bold_titles_only_where_there_is_a_bold_font() -> None:
    assert style(None)["axes.titleweight"] == "bold"
    assert "axes.titleweight" not in style("NanumGothic")
    assert style("NanumGothic")["font.family"] == ["NanumGothic", "DejaVu Sans"]


def test_the_style_of_others_is_left_alone(run: Run) -> None:
    before = {key: matplotlib.rcParams[key] for key in (*STYLE, "font.family", "backend")}
    draw(run)
    assert {key: matplotlib.rcParams[key] for key in before} == before


def test_a_folder_that_cannot_be_written_is_one_line(run: Run) -> None:
    run.pictures.rmdir()
    run.pictures.write_text("a file", encoding="utf-8")
    with pytest.raises(FileError, match=r"loss_curves\.png cannot be written: "):
        draw(run)


def test_a_task_draws_its_own_metrics() -> None:
    records = [{"kind": "evaluation", "step": 1, "loss": 2.0, "accuracy": 0.5, "f1": 0.25}]
    board = figures(records, "en", Classification)["dashboard"]
    right, mean = board.axes[3].get_lines()
    assert (list(right.get_ydata()), list(mean.get_ydata())) == ([50], [25])
    assert {"right (%)", "nats per text", "Speed (texts per second)"} <= texts(board)


def test_numbers_that_are_no_shares_have_an_axis_of_their_own() -> None:
    class Forecast(Translation):
        shown: ClassVar[Mapping[str, str]] = {"sample_bleu": "free"}

    axes = figures(list(lines(2000)), "en", Forecast)["dashboard"].axes[3]
    assert axes.get_ylim()[1] > 103
