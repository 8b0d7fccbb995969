from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import small_classifier
from small_translator import ENGLISH, trained
from typed import typed

HANGUL = re.compile(r"[가-힣]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return trained(tmp_path)


run = typed("evaluate")


@pytest.mark.parametrize(("lang", "word"), [("en", "scored on test: 1"), ("ko", "평가한 횟수: 1")])
def test_a_table_in_either_language(lang: str, word: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, "--split", "test", "--device", "cpu", "--lang", lang)
    assert (code, err) == (0, "")
    assert word in out and "tok:13a" in out and "100.0" in out and bool(HANGUL.search(out)) is (lang == "ko")


def test_json_and_the_number_of_readings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (folder, "--split", "test", "--json", "--beam", "1", "--checkpoint", "last")
    first, second = (json.loads(run(capsys, *arguments)[1]) for _ in range(2))
    assert (first["exact"], first["sentences"], first["search"]["beam"]) == (1.0, 20, 1)
    assert (first["readings"], second["readings"]) == (1, 2)
    assert {"bleu", "signature", "chrf", "loss"} <= set(first)


def test_the_conventions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, folder, "--forensics", "--beam", "1")
    assert code == 0 and "multi-bleu style" in out and "get_ende_bleu style" in out


def test_the_translations_are_written(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "test.hyp"
    code, out, _ = run(capsys, folder, "--beam", "1", "--hypotheses", path)
    assert code == 0 and f"20 answers written to {path}" in " ".join(out.split())
    assert path.read_text(encoding="utf-8").splitlines() == ENGLISH


def test_scores_are_shown_though_the_translations_cannot_be_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, folder, "--beam", "1", "--json", "--hypotheses", tmp_path / "nowhere" / "x")
    assert code == 1 and json.loads(out)["exact"] == 1.0
    assert "nowhere/x cannot be written: No such file or directory" in err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--teacher-forced",), "teacher"),
        (("--split", "dev"), "split='dev' is unknown; use one of: train, validation, test"),
        (("--checkpoint", "first"), "checkpoint='first' is unknown; use one of: auto, averaged, best, last, 120"),
        (("--checkpoint", "averaged"), "has no checkpoint 'averaged'; it has these steps: 120"),
        (("--device", "abacus"), "abacus"),
        (("--beam", "0"), "beam=0"),
    ],
)
def test_what_is_refused(
    arguments: tuple[str, ...], line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, folder, *arguments)
    assert (code, out, err.count("\n")) == (1, "", 1) and line in err
    code, _, err = run(capsys, folder, *arguments, "--lang", "ko")
    assert code == 1 and HANGUL.search(err)


def test_a_folder_that_is_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, tmp_path)
    assert code == 1 and "is not a run: it has no config.toml" in err


def test_a_classifier(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    classifier, path = small_classifier.trained(tmp_path), tmp_path / "said.txt"
    code, out, err = run(capsys, classifier, "--split", "test", "--hypotheses", path)
    assert (code, err) == (0, "") and "100.00" in out and "bad" in out
    assert path.read_text(encoding="utf-8").splitlines()[:2] == ["good", "bad"]
    found = json.loads(run(capsys, classifier, "--json")[1])
    assert (found["accuracy"], found["examples"], found["labels"]) == (1.0, 40, ["bad", "good"])
