"""What is printed after training can be typed as it stands."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import pytest
from PIL import Image

from glassformer.cli.app import main
from glassformer.cli.progress import farewell
from glassformer.runs import Run
from glassformer.training.begin import begin
from glassformer.training.loop import train
from small_forecaster import hours, written
from tiny_runs import KINDS, trained
from tiny_tasks import tiny


def commands(run: Path, step: int = 8) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in farewell(Run(run), step) if line.startswith("  glassformer ")]


def works(command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(SystemExit) as stop:
        main(command)
    assert stop.value.code == 0, (command, capsys.readouterr().err)


@pytest.mark.many
@pytest.mark.parametrize("kind", KINDS)
def test_every_command_works_as_printed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = commands(trained(kind, tmp_path))
    assert found[-1][0] == "evaluate" and [command[0] for command in found].count("evaluate") == 1
    for command in found:
        works(command, monkeypatch, capsys)


@pytest.mark.parametrize("options", [{}, {"columns": ["load"]}, {"columns": "load"}, {"gaps": True}])
def test_of_a_file_of_ones_own(
    options: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{line},{'price' if i == 0 else i % 7}" for i, line in enumerate(hours(240).splitlines())]
    if "gaps" in options:
        del rows[-3]
    source = {"source": {"kind": "csv", "path": str(written(tmp_path, "\n".join(rows))), **options}}
    list(train(begin(tiny("forecasting", data=source, train={"steps": 2}), tmp_path / "run")))
    forecast, _ = commands(tmp_path / "run", 2)
    assert forecast[0] == "forecast"
    works(forecast, monkeypatch, capsys)


def test_of_a_folder_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for label, shade in (("dark", 10), ("light", 240)):
        (tmp_path / "images" / label).mkdir(parents=True)
        for number in range(8):
            Image.new("L", (8, 8), shade + number).save(tmp_path / "images" / label / f"{number}.png")
    source = {"source": {"kind": "folder", "train": str(tmp_path / "images")}, "validation": 4}
    list(train(begin(tiny("image_classification", data=source, train={"steps": 2}), tmp_path / "run")))
    recognise, _ = commands(tmp_path / "run", 2)
    assert recognise[0] == "recognise"
    works(recognise, monkeypatch, capsys)
