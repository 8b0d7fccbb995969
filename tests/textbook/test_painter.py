from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from glassformer.lessons.record import RECORDED, LessonResult
from glassformer.textbook import painter

NAME = "scaled_scores"


@pytest.mark.slow
def test_a_line_in_two_files_and_a_line_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = LessonResult.read(RECORDED / f"{NAME}.json").data
    order = {"name": NAME, "lang": "ko", "data": data, "alternative": "보이는 것", "to": str(tmp_path / "one")}
    bad = {**order, "data": {}, "to": str(tmp_path / "two")}
    monkeypatch.setattr(painter.sys, "stdin", StringIO("".join(json.dumps(each) + "\n" for each in (bad, order))))
    painter.main()
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert answers[0]["error"].startswith("KeyError") and answers[1] == {"error": ""}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.png", "one.svg"]
    assert 'aria-label="보이는 것"' in (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
