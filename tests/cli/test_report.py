from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from glassformer.lessons import measuring
from glassformer.lessons.batch import Failed, Happening, WorkerJob
from glassformer.lessons.catalogue import LESSONS
from glassformer.textbook import build
from typed import typed

pytestmark = pytest.mark.usefixtures("own_cache")


class Written:
    """A report that is only asked for."""

    asked: list[Any] = []  # noqa: RUF012

    def __init__(self, order: Any) -> None:
        self.order, self.left = order, 2
        self.asked.append(order)

    def build(self, watch: Any = None, readable: Any = None) -> list[Path]:
        if readable is not None:
            readable([self.order.out / "report.en.html"])
        if watch is not None:
            watch("scaled_scores", 1.0)
        return [self.order.out / f"report.{lang}.html" for lang in self.order.langs]

    def refresh(self) -> bool:
        self.left -= 1
        return self.left > 0


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.setattr(build, "Report", Written)
    Written.asked = []
    return Written.asked


run = typed("report")


def test_both_languages_unless_one_is_named(
    asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "--out", tmp_path)
    assert code == 0 and "written: " in out and "readable now: " in err
    run(capsys, "--out", tmp_path, "--lang", "both")
    run(capsys, "--out", tmp_path, "--lang", "ko")
    assert [tuple(order.langs) for order in asked] == [("en", "ko"), ("en", "ko"), ("ko",)]


def test_for_programs(asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--out", tmp_path, "--lang", "en", "--json")
    assert (code, err) == (0, "") and json.loads(out) == {"files": [str(tmp_path / "report.en.html")]}


def test_every_lesson_is_measured_before(
    asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []

    def measure_all(given: list[str], *_: Any) -> Iterator[Happening]:
        names.extend(given)
        yield from (Failed(WorkerJob("lesson", name), "no room") for name in given)

    monkeypatch.setattr(measuring, "measure_all", measure_all)
    code, _, _ = run(capsys, "--out", tmp_path, "--fresh")
    assert (code, names) == (1, list(LESSONS))


def test_a_run_is_followed_to_its_end(asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--run", tmp_path, "--out", tmp_path / "out", "--refresh", "0.01")
    assert code == 0 and "every 0.01 s until the run ends" in " ".join(out.split())
    assert asked[-1].run == tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--lang", "de"], 2, "--lang de: use ko or en"),
        (["--refresh", "5"], 2, "--refresh 5.0: use it with --run"),
        (["--run", "nowhere", "--refresh", "0"], 2, "a number of seconds above 0"),
        (["--run", "nowhere"], 1, "nowhere is not a run"),
    ],
)
def test_wrong_use(arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (code, "") and message in err and err.count("\n") == 1
