from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from PIL import Image

import tiny_runs
from glassformer.cli.model_argument import OBVIOUS, model_and_input, model_and_inputs
from glassformer.errors import ConfigError, UsageError
from glassformer.tasks import TASKS
from packaged import package
from small_forecaster import hours, written
from typed import typed

run = typed("--lang", "en")
ALL = {
    "ko-en": "translation",
    "sentiment-ko": "classification",
    "masked-ko": "masked_language_model",
    "writer-ko": "language_model",
    "clothes": "image_classification",
    "prices": "forecasting",
}


def test_every_verb_with_an_obvious_model_is_a_verb() -> None:
    assert set(OBVIOUS) == {kind.verb for kind in TASKS.values()} - {"evaluate", "trace"}
    assert list(OBVIOUS.values()) == list(ALL)


def test_the_first_argument_is_the_model_if_it_names_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, monkeypatch, {"ko-en": "translation"})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    tiny_runs.trained("translation", tmp_path)
    for given in (
        "ko-en",
        "gpt2",
        "translation",
        "runs/",
        "./none",
        "/no/such",
        "runs/none",
        "https://x.y/z",
        "prices",
        "",
    ):
        assert model_and_inputs("translate", given, None) == (given, None)
        assert model_and_inputs("translate", given, ["a"]) == (given, ["a"])
    assert model_and_inputs("translate", "google/bert", ["a"]) == ("google/bert", ["a"])  # two words: a name of a hub
    assert model_and_inputs("recognise", "runs/none", ["a.png"]) == ("runs/none", ["a.png"])


def test_anything_else_is_answered_by_the_obvious_one_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    package(tmp_path, monkeypatch, {"ko-en": "translation", "clothes": "image_classification"})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.png").touch()
    for text in ("나는 학교에 간다", "hello", "and/or", "digest", "x" * 5000, "a\0b"):
        assert model_and_inputs("translate", text, ["b"] if "/" not in text else None)[0] == "ko-en"
        assert capsys.readouterr().err == "no model named: ko-en answers (glassformer models ko-en)\n"
    assert model_and_inputs("translate", "hello", ["b"]) == ("ko-en", ["hello", "b"])
    assert model_and_inputs("translate", "package", ["b"]) == ("package", ["b"])  # a folder, and then a text
    assert model_and_inputs("translate", "package") == ("ko-en", ["package"])  # a text
    assert model_and_inputs("translate", None, None) == ("ko-en", None)
    assert model_and_inputs("recognise", "a.png", ["b.png"]) == ("clothes", ["a.png", "b.png"])
    assert model_and_inputs("recognise", str(tmp_path / "none.png")) == ("clothes", [str(tmp_path / "none.png")])


def test_a_word_close_to_a_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, monkeypatch, {"ko-en": "translation"})
    for word, meant in {"ko-em": "ko-en", "gpt-2": "gpt2", "sentiment": "sentiment-ko"}.items():
        with pytest.raises(ConfigError, match=rf"'{word}' is no model; did you mean {meant}\? \(a text that looks"):
            model_and_inputs("translate", word, ["나는 간다"])


def test_without_the_obvious_model_those_that_are_there_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package(tmp_path, monkeypatch, {"prices": "forecasting"})
    for verb, model in OBVIOUS.items():
        if verb != "forecast":
            code, out, err = run(capsys, verb, "여기")
            assert (code, out, err.count("\n")) == (1, "", 1)
            assert f"no model is named, and {model}, which would answer, is not in this package; name" in err
            assert err.endswith("one of: prices\n")


def test_one_thing_is_answered_by_verbs_that_take_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, monkeypatch, {"prices": "forecasting"})
    assert model_and_input("forecast", "prices", "a.csv", "") == ("prices", "a.csv")
    assert model_and_input("forecast", "a.csv", None, "") == ("prices", "a.csv")
    assert model_and_input("forecast", None, None, "") == ("prices", None)
    with pytest.raises(UsageError, match=r"takes no further argument b\.csv; write glassformer forecast MODEL FILE"):
        model_and_input("forecast", "a.csv", "b.csv", "MODEL FILE.csv")


@pytest.mark.slow
def test_every_verb_answers_with_and_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package(tmp_path, monkeypatch, ALL)
    monkeypatch.chdir(tmp_path)
    for name, kind in ALL.items():
        verb, _, *inputs = tiny_runs.use(kind, tmp_path, tmp_path)
        named = run(capsys, verb, name, *inputs)
        code, out, err = run(capsys, verb, *inputs)
        assert named[0] == 0 and (code, out) == named[:2]
        assert err == f"no model named: {name} answers (glassformer models {name})\n" + named[2]


def test_verbs_refuse_what_is_left_over_or_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package(tmp_path, monkeypatch, {"prices": "forecasting", "writer-ko": "language_model"})
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, hours(60))
    assert run(capsys, "forecast", path, "more")[0] == 2
    assert run(capsys, "generate", "the cat", "sat")[0] == 2
    assert "FILE.csv is missing" in run(capsys, "forecast", "prices")[2]
    assert "IMAGE is missing; see glassformer recognise --help" in run(capsys, "recognise", "clothes")[2]
    Image.new("L", (8, 8)).save(tmp_path / "a.png")
    assert run(capsys, "recognise", "a.png")[0] == 1


def test_standard_input_is_answered_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package(tmp_path, monkeypatch, {"sentiment-ko": "classification"})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("우리는 자주 웃는다\n".encode())))
    code, out, err = run(capsys, "classify")
    assert code == 0 and out.count("\n") == 1 and err.count("\n") == 1
