from __future__ import annotations

import json
from pathlib import Path

import pytest

from small_forecaster import hours, trained, written
from typed import typed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("forecaster") / "run").folder


run = typed("forecast")


@pytest.mark.slow
def test_a_table_and_a_picture(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "next.png"
    code, out, err = run(capsys, folder, written(tmp_path, hours(30)), "--out", picture, "--lang", "en")
    assert (code, err) == (0, "") and picture.is_file()
    assert "load of series.csv: the next 4 values after 2024-01-02 05:00 (step: 1 hour)" in " ".join(out.split())
    assert "2024-01-02 09:00" in out and "last value" in out and "next.png" in out


def test_korean(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, folder, written(tmp_path, hours(30)), "--lang", "ko")
    assert code == 0 and "마지막 값" in out and "어텐션의 비율" in out


def test_json_is_one_document(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, hours(30).replace("date", "when"))
    code, out, _ = run(
        capsys, folder, path, "--date", "when", "--column", "load", "--json", "--out", tmp_path / "x.svg"
    )
    shown = json.loads(out)
    assert code == 0 and shown["column"] == "load" and len(shown["forecast"]) == 4 and len(shown["patches"]) == 7


def test_what_fails_is_one_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, tmp_path / "none.csv", "--lang", "en")
    assert (code, out) == (1, "") and "none.csv: no such file" in err and len(err.splitlines()) == 1
    code, out, err = run(capsys, folder, written(tmp_path, hours(30)), "--out", "next.bmp", "--lang", "en")
    assert (code, out) == (1, "") and "next.bmp: a picture is .png or .svg" in err


def test_gaps(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = hours(40).splitlines()
    path = written(tmp_path, "\n".join([*lines[:30], *lines[31:], ""]))
    assert run(capsys, folder, path)[0] == 1
    assert run(capsys, folder, path, "--gaps")[0] == 0
