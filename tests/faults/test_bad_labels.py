"""Whatever is wrong with labelled texts, the command line says it in one line and leaves nothing behind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from small_classifier import REVIEWS, trained, write_recipe, write_tsv
from typed import typed

HANGUL = re.compile(r"[가-힣]")
GOOD = "text\tlabel\n영화 좋다\tgood\n영화 나쁘다\tbad\n"


run = typed()


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line, in English; the same is said in Korean, both with exit code 1."""
    code, out, korean = run(capsys, *arguments, "--lang", "ko")
    assert (code, korean.count("\n")) == (1, 1) and HANGUL.search(korean), korean
    code, out, english = run(capsys, *arguments, "--lang", "en")
    assert (code, english.count("\n")) == (1, 1) and "Traceback" not in out + english, english
    return english


@pytest.mark.many
@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.tsv", "words\tlabel\na\tb\n", ("one label only", "(b)")),  # a header, though only one name of it is known
        ("a.tsv", "words\tmood\na\tb\nc\tb\nd\te\nf\te\n", ("a.tsv", "'mood'", "header=true", "header=false")),
        ("a.tsv", "", ("a.tsv", "empty")),
        ("a.tsv", "text\tlabel\n", ("a.tsv", "empty")),
        ("a.tsv", f"{GOOD} \tgood\n", ("a.tsv", "line 4", "nothing but blanks")),
        ("a.tsv", f"{GOOD}영화\n", ("a.tsv", "line 4", "1 columns")),
        ("a.tsv", "text\tlabel\n영화 좋다\tgood\n책 좋다\tgood\n", ("one label only", "good")),
        ("a.jsonl", '{"text": "a", "label": NaN}\n', ("a.jsonl", "line 1", "nan")),
        ("a.jsonl", '{"text": NaN, "label": 1}\n', ("a.jsonl", "line 1", "nan")),
        ("a.jsonl", '{"text": "a"}\n', ("a.jsonl", "line 1", "1 columns")),
        ("a.jsonl", "text\n", ("a.jsonl", "line 1", "not JSON")),
    ],
)
def test_a_training_file_that_is_none(
    name: str, text: str, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    recipe = write_recipe(tmp_path / "data", train=str(tmp_path / name))
    line = refused(capsys, "train", recipe, "--out", tmp_path / "run")
    assert all(word in line for word in words), line
    assert not (tmp_path / "run").exists() and not list(tmp_path.glob(".tmp-*"))


def test_labels_of_validation_that_were_not_trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    strange = write_tsv(tmp_path / "b.tsv", [*REVIEWS[:2], ("영화", "awful")])
    recipe = write_recipe(tmp_path / "data", validation=strange)
    line = refused(capsys, "train", recipe, "--out", tmp_path / "run")
    assert "'awful' of text 3 in the part 'validation'" in line and "(bad, good)" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.many
@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("train.loss", "mse", "cannot be learned with the loss 'mse'"),
        ("run.task.weights", "[1,2,3]", "3 numbers for 2 classes"),
        ("model.head.classes", 7, "head.classes=7"),
        ("data.source.kind", "grammar", "data.source."),
        ("text.vocab_size", 5000, "vocab_size=5000 is more than"),
    ],
)
def test_a_recipe_that_does_not_fit(
    key: str, value: Any, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = write_recipe(tmp_path / "data")
    assert words in refused(capsys, "train", recipe, "--out", tmp_path / "run", "--set", f"{key}={value}")
    assert not (tmp_path / "run").exists()


def test_a_classifier_that_is_evaluated_on_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = trained(tmp_path)
    assert "split='dev' is unknown" in refused(capsys, "evaluate", folder, "--split", "dev")
    assert "says no sentences; leave --forensics out" in refused(capsys, "evaluate", folder, "--forensics")
