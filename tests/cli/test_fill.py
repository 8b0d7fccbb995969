from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from glassformer.tasks.masked_language_model.fill import fill
from small_models import saved, small
from typed import typed

TEXT = "나는 ___ [MASK]."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(small("masked_language_model"), tmp_path_factory.mktemp("run"))


run = typed("fill")


@pytest.mark.parametrize(("lang", "title"), [("en", "probability"), ("ko", "확률")])
def test_a_table(lang: str, title: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, TEXT, "--top", 3, "--lang", lang)
    assert (code, err) == (0, "") and title in out
    for mask in fill(small("masked_language_model"), TEXT, 3):
        for one in mask.candidates:
            assert f"{one.probability:.4f}" in out and one.text in out


def test_json_of_arguments_and_of_lines(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, _ = run(capsys, folder, TEXT, "I ___", "--json")
    first, second = json.loads(out)
    assert first["text"] == TEXT and [mask["mask"] for mask in first["masks"]] == [1, 2]
    assert len(second["masks"][0]["candidates"]) == 5
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{TEXT}\nI ___\n".encode())))
    assert run(capsys, folder, "--json")[1] == out


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", "line 2: there is no gap in 'I go'; write <mask> or ___ where a word is missing\n"),
        ("ko", "2번째 줄: 'I go': 빈칸이 없습니다. 낱말이 빠진 자리에 <mask> 또는 ___ 표시를 쓰세요\n"),
    ],
)
def test_a_text_without_a_gap_is_named(lang: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, "I ___", "I go", "--lang", lang)
    assert (code, err) == (1, said) and "I" in out


def test_a_model_that_fills_no_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, saved(small("classification"), tmp_path), "I ___")
    assert (code, out) == (1, "") and err.endswith("and cannot fill; use glassformer classify\n")
