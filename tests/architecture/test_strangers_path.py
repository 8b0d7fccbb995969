"""What a stranger does with files of their own and the command line alone.

The commands on pairs each run in a process of their own; the others need not prove again that a process can start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from own_files import PAIRS, photos, sales, table
from typed import typed

pytestmark = pytest.mark.slow


def given(folder: Path, *arguments: str) -> str:
    """What a command prints, in a process of its own."""
    environment = {**os.environ, "GLASSFORMER_LANG": "en", "COLUMNS": "120"}
    command = [sys.executable, "-m", "glassformer", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def typed_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """The same in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def given_here(*arguments: str) -> str:
        code, out, err = typed()(capsys, *arguments)
        assert code == 0, err
        return out

    return given_here


def test_own_pairs_are_trained_on_translated_and_scored(tmp_path: Path) -> None:
    table(tmp_path / "pairs.tsv", PAIRS, header="ko\ten")
    said = given(tmp_path, "train", "pairs.tsv", "--steps", "40")
    assert "24 pairs, separated by tabs, header 'ko, en' skipped" in said
    assert len(given(tmp_path, "translate", "runs/pairs", "나는 책을 읽는다", "우리는 물을 마신다").splitlines()) == 2
    scores = json.loads(given(tmp_path, "evaluate", "runs/pairs", "--json"))
    assert scores["sentences"] == 2 and scores["loss"] < 6


def test_an_own_series_is_trained_on_and_forecast(tmp_path: Path, typed_here: Callable[..., str]) -> None:
    sales(tmp_path / "sales.csv")
    said = typed_here("train", "sales.csv", "--steps", "40")
    assert "separated by semicolons" in said and "decimal sign ','" in said
    found = json.loads(typed_here("forecast", "runs/sales", "sales.csv", "--json"))
    assert found["column"] == "Umsatz" and "2024-05-07" in json.dumps(found)  # eight days after the last row


def test_own_images_are_trained_on_and_recognised(tmp_path: Path, typed_here: Callable[..., str]) -> None:
    photos(tmp_path / "photos")
    assert "16 images in 2 classes (blue 8, red 8)" in typed_here("train", "photos", "--steps", "15")
    rows = typed_here("recognise", "runs/photos", "photos/red/0.png", "photos/blue/0.png").splitlines()
    assert [row.split("\t")[1] for row in rows] == ["red", "blue"]
