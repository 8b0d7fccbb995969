from __future__ import annotations

import json
from pathlib import Path

import pytest

from packaged import package
from typed import typed

run = typed("models")


def test_the_list_and_a_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package(tmp_path, monkeypatch, {"ko-en": "translation", "prices": "forecasting"})
    code, out, err = run(capsys, "--lang", "en")
    assert (code, err) == (0, "") and "ko-en" in out and "translation" in out
    assert out.rstrip().endswith("More about one: glassformer models ko-en. Use one: glassformer translate ko-en …")
    assert [card["name"] for card in json.loads(run(capsys, "--json")[1])] == ["ko-en", "prices"]
    code, out, err = run(capsys, "prices", "--lang", "ko")
    assert (code, err) == (0, "") and "파라미터" in out and "waves (MIT)" in out
    card = json.loads(run(capsys, "prices", "--json")[1])
    assert (card["name"], card["data"]) == ("prices", {"waves": "MIT"})


@pytest.mark.parametrize("name", ["price", "../ko-en", "", "x" * 3000, "a/b"])
def test_an_unknown_name_is_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package(tmp_path, monkeypatch, {"prices": "forecasting"})
    code, out, err = run(capsys, name, "--lang", "en")
    assert (code, out, err.count("\n")) == (1, "", 1) and "is no trained model of the package; " in err
