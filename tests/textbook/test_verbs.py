from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from glassformer.errors import GlassformerWarning
from glassformer.lessons import measuring
from glassformer.lessons.batch import Done, Failed, Happening, WorkerJob
from glassformer.lessons.catalogue import LESSONS
from glassformer.lessons.record import RECORDED, LessonResult
from glassformer.textbook import build

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.mark.slow
def test_a_lesson() -> None:
    lesson = gf.lesson("scaled_scores", lang="ko")
    assert lesson.verdicts["scale-variance"].verdict == "confirmed"
    assert lesson.data["keys"] == 64 and "variance" in lesson.text("deep", "en")
    assert len(lesson.figure().axes) == 6  # three curves over d_k, and the softmax at three of them


@pytest.mark.slow
def test_a_lesson_measured_again() -> None:
    first, again = gf.lesson("scaled_scores"), gf.lesson("scaled_scores", fresh=True)
    assert again.data == first.data and not again.stale


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(gf.GlassformerError, match="there is no lesson 'scaled'"):
        gf.lesson("scaled")
    with pytest.raises(gf.GlassformerError, match="there is no claim 'x'"):
        gf.claims("x")
    with pytest.raises(gf.ConfigError, match="lang='de' is unknown"):
        gf.report(lang="de")


@pytest.mark.slow
def test_claims() -> None:
    assert [answer.id for answer in gf.claims("scale-variance", lang="en")] == ["scale-variance"]
    assert "scale-variance" in [answer.id for answer in gf.claims()]


def test_a_named_claim_is_measured_where_it_has_no_result_and_all_of_them_only_when_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = LessonResult.read(RECORDED / "scaled_scores.json")
    asked: list[list[str]] = []

    def measure_all(names: list[str], *_: Any) -> Iterator[Happening]:
        asked.append(names)
        yield Done(WorkerJob("lesson", result.name), result)

    monkeypatch.setattr("glassformer.lessons.lesson_results.recorded", lambda name: None)
    monkeypatch.setattr(measuring, "measure_all", measure_all)
    assert (gf.claims(), asked) == ([], [])
    assert [answer.id for answer in gf.claims("scale-variance")] == ["scale-variance"]
    assert len(gf.claims(fresh=True)) > 0
    assert asked == [["scaled_scores"], list(LESSONS)]


def test_a_claim_that_could_not_be_measured_is_a_warning_and_no_old_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure_all(names: list[str], *_: Any) -> Iterator[Happening]:
        yield from (Failed(WorkerJob("lesson", name), "no room") for name in names)

    monkeypatch.setattr(measuring, "measure_all", measure_all)
    with pytest.warns(GlassformerWarning, match="scaled_scores: not measured"):
        assert gf.claims("scale-variance", fresh=True) == []


class Written:
    """A report that is only asked for."""

    asked: list[build.Order] = []  # noqa: RUF012

    def __init__(self, order: build.Order) -> None:
        self.order = order
        self.asked.append(order)

    def build(self) -> list[Path]:
        return [self.order.out]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[build.Order]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(build, "Report", Written)
    Written.asked = []
    return Written.asked


def test_a_report_of_a_run(asked: list[build.Order], tmp_path: Path) -> None:
    out = tmp_path / "page"
    assert gf.report(gf.TrainedRun(tmp_path / "run"), out=out, lang="ko") == [out]
    assert gf.report("runs/first") == [Path("report")]
    assert [(order.run, tuple(order.langs)) for order in asked if order.langs] == [
        (tmp_path / "run", ("ko",)),
        (Path("runs/first"), ("en", "ko")),
    ]


def test_a_report_renews_what_it_wrote_and_overwrites_nothing_else(asked: list[build.Order], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(gf.FileError, match="other"):
        gf.report(out=other)
    assert asked == [] and [path.name for path in other.iterdir()] == ["thesis.txt"]
    gf.report(out=tmp_path / "new")
    (tmp_path / "new" / "more.txt").write_text("more")
    gf.report(out=tmp_path / "new")
    gf.report(out=other, force=True)
    assert [order.out.name for order in asked] == ["new", "new", "other"]
