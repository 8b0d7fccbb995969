from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from glassformer.tasks.classification.classify import classify
from small_models import LABELS, saved, small
from typed import typed

TEXTS = ["나는 학교에 간다.", "나는", "he", "I go to school! "]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(small("classification"), tmp_path_factory.mktemp("run"))


run = typed("classify")


def test_a_line_for_each_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = "".join(f"{one.label}\t{one.probability:.4f}\n" for one in classify(small("classification"), TEXTS))
    assert run(capsys, folder, *TEXTS) == (0, expected, "")


def test_lines_of_the_input(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = run(capsys, folder, *TEXTS)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(TEXTS).encode())))
    assert run(capsys, folder) == expected


def test_more_classes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = run(capsys, folder, "he", "--top", 9)[1].strip().split("\t")
    assert sorted(cells[::2]) == LABELS and sum(map(float, cells[1::2])) == pytest.approx(1, abs=2e-4)
    assert len(run(capsys, folder, "he", "--top", 2)[1].split("\t")) == 4


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = json.loads(run(capsys, folder, "가", "--json")[1])
    assert set(found) == {"input", "label", "probability", "probabilities", "unseen", "longer_than"}
    assert found["input"] == "가" and found["probabilities"][found["label"]] == found["probability"]
    assert sum(found["probabilities"].values()) == pytest.approx(1)
    (found,) = json.loads(run(capsys, folder, "가", "--json", "--top", 1)[1])
    assert list(found["probabilities"]) == [found["label"]]


def test_bad_options_and_models(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, "he", "--top", 0)
    assert (code, out, err.count("\n")) == (1, "", 1) and "top=0 is out of range" in err
    code, out, err = run(capsys, saved(small("masked_language_model"), tmp_path), "he", "--lang", "ko")
    assert (code, out) == (1, "") and err.endswith("glassformer fill 명령을 쓰세요\n")
