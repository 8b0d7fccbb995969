from __future__ import annotations

import json
import re
from importlib import metadata

import pytest

from glassformer import doctor
from glassformer.version import __version__
from typed import typed


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    monkeypatch.delenv("GLASSFORMER_DATA", raising=False)


run = typed("doctor")


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("Python", "memory", "Hangul font", "data sets", "Everything that Glassformer needs is here.")),
        ("ko", ("파이썬", "메모리", "한글 글꼴", "데이터셋", "Glassformer에 필요한 것이 모두 갖춰져 있습니다.")),
    ],
)
def test_a_healthy_machine(lang: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--lang", lang)
    assert (code, err) == (0, "")
    assert f"Glassformer {__version__}" in out
    assert re.search(rf"✓ │ torch +│ {re.escape(metadata.version('torch'))} ", out)
    for word in words:
        assert word in out


def test_a_missing_package_is_exit_code_1(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", ("torch", "no-such-package"))
    code, out, err = run(capsys, "--lang", "en")
    assert (code, err) == (1, "")
    assert "✗ │ no-such-package │ not installed: pip install no-such-package" in out
    assert out.rstrip().endswith("Something is missing: see above.")
    code, out, _ = run(capsys, "--lang", "ko")
    assert code == 1
    assert out.rstrip().endswith("빠진 것이 있습니다. 위의 표를 확인하세요.")


def test_brackets_in_a_path_are_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_DATA", "/none/[/b]")
    code, out, err = run(capsys)
    assert (code, err) == (1, "")
    assert "GLASSFORMER_DATA is /none/[/b], which is not a folder" in out


def test_the_json_tells_the_same(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = run(capsys, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["ok"] is True
    assert {"kind", "name", "found", "ok", "optional"} == set(document["findings"][0])
    assert {finding["name"] for finding in document["findings"]} >= {"torch", "python", "CPU", "memory", "font", "data"}
    monkeypatch.setattr(doctor, "PACKAGES", ("no-such-package",))
    code, out, _ = run(capsys, "--json")
    assert (code, json.loads(out)["ok"]) == (1, False)
