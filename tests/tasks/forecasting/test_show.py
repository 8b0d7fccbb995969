from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.metrics.forecasting import Gain
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.forecasting import show
from small_forecaster import trained, written


@pytest.mark.parametrize(("lang", "word"), [("en", "persistence"), ("ko", "지속 예측")])
def test_methods_series_and_a_plain_word(lang: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    rows = [f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00,{i % 24},{(i * i) % 31}" for i in range(400)]
    path = written(tmp_path, "\n".join(["date,<a>,b", *rows, ""]))
    found = evaluate(trained(tmp_path / "run", data={"source": {"kind": "csv", "path": str(path)}}), "test")
    text, page = repr(found), found._repr_html_()  # type: ignore[attr-defined]
    for wanted in (word, "DLinear", "NLinear", "MASE"):
        assert wanted in text and wanted in page
    assert "<a>" in text and "&lt;a&gt;" in page and "<td><a></td>" not in page
    lines = show.notes(found, lang)  # type: ignore[arg-type]
    assert len(lines) == 4 + 3 and word in lines[0]
    lost = replace(found, gains={**found.gains, "persistence": Gain(value=-1.926, low=-2.5, high=-1.25)})  # type: ignore[attr-defined,type-var]
    assert "192.6% " in show.verdict(lost, "persistence", lang) and "−250.0" in show.verdict(lost, "persistence", lang)
    few = replace(lost, gains={**found.gains, "persistence": Gain(value=-1.926, low=-math.inf, high=math.inf)})
    assert "−192.6%" in show.verdict(few, "persistence", lang)
    assert found.groups["<a>"].mase is None and found.groups["b"].mase > 0  # "<a>" is a clockwork: no naive error


def test_too_few_windows_give_no_interval() -> None:
    found = Gain(value=-0.7, low=-math.inf, high=math.inf)
    assert show._gain(found) == "-70.0"
