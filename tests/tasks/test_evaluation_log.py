from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.errors import GlassformerWarning
from glassformer.tasks.evaluation_log import EvaluationLog


def test_every_reading_is_counted_by_its_split(tmp_path: Path) -> None:
    readings = EvaluationLog(tmp_path)
    assert readings.read() == [] and readings.count("test") == 0
    readings.write("test", "averaged", {"bleu": 3.0, "loss": float("nan")})
    readings.write("validation", "averaged", {"bleu": 4.0})
    readings.write("test", "step-00000010", {"bleu": 5.0})
    assert [readings.count(split) for split in ("test", "validation", "train")] == [2, 1, 0]
    first = readings.read()[0]
    assert (first["checkpoint"], first["bleu"], first["loss"]) == ("averaged", 3.0, None)
    assert first["time"].endswith("+00:00")


def test_a_half_written_line_is_no_reading(tmp_path: Path) -> None:
    readings = EvaluationLog(tmp_path)
    readings.write("test", "averaged", {})
    with readings.path.open("a", encoding="utf-8") as file:
        file.write('[1]\n{"split": "te')
    assert readings.count("test") == len(readings.read()) == 1


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    readings = EvaluationLog(tmp_path / "nowhere")
    with pytest.warns(GlassformerWarning, match=r"evaluations\.jsonl cannot be written \(No such file or directory\)"):
        readings.write("test", "averaged", {"bleu": 3.0})
    assert readings.count("test") == 0
