from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from glassformer.cli import prepared as module
from glassformer.cli.prepared import Now, in_bytes, shown_preparation
from glassformer.data.watching import tell
from stored_pairs import as_large, translating, write_corpus
from typed import typed

DATA = typed("data")


@pytest.fixture
def recipe(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe of files that count as large."""
    path = tmp_path / "stored.toml"
    path.write_text(translating(write_corpus(tmp_path, 200)).to_toml(), encoding="utf-8")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    return path


def test_preparing_listing_and_clearing(
    recipe: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = DATA(capsys, "cache")
    assert code == 0 and "holds nothing prepared" in out and str(own_cache) in out.replace("\n", "")
    as_large(monkeypatch)
    code, out, _ = DATA(capsys, "prepare", str(recipe))
    assert code == 0 and "training examples" in out and "train, --resume, sweep and evaluate find it there" in out
    code, out, _ = DATA(capsys, "cache", "--json")
    found = json.loads(out)
    assert {each["kind"] for each in found["prepared"]} == {"texts", "apart", "vocabulary", "seen", "tokens"}
    assert found["bytes"] == sum(each["bytes"] for each in found["prepared"]) > 1000
    code, out, _ = DATA(capsys, "cache")
    assert "words seen" in out and "whole" in out and "glassformer data cache clear" in out
    code, out, _ = DATA(capsys, "cache", "clear")
    assert code == 0 and out == f"{in_bytes(found['bytes'])} given back.\n"
    assert json.loads(DATA(capsys, "cache", "--json")[1])["prepared"] == []
    assert json.loads(DATA(capsys, "cache", "clear", "--json")[1]) == {"cleared": 0}


def test_a_small_set_is_not_kept(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = DATA(capsys, "prepare", str(recipe), "--json")
    found = json.loads(out)
    assert code == 0 and found["folder"] is None and found["examples"] > 100
    code, out, _ = DATA(capsys, "prepare", str(recipe), "--lang", "ko")
    assert "매번 읽어도 될 만큼 작아서" in out


def test_wrong_uses_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = DATA(capsys, "prepare")
    assert code == 2 and "data prepare: of which recipe? Give a name" in err
    code, _, err = DATA(capsys, "cache", "empty")
    assert code == 2 and "glassformer data cache [clear]" in err


def test_what_is_done_is_said_when_it_changes_and_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    said: list[str] = []
    now = Now(said.append, between=10)
    for second, doing, done, total in (
        (1, "reading", 1, None),  # too early
        (3, "reading", 4000, None),
        (5, "reading", 5000, None),
        (6, "tokens", 1, 9000),
        (12, "tokens", 2, 9000),
        (17, "tokens", 3000, 9000),
        (18, "waiting", 0, None),
    ):
        clock[0] = second
        now(doing, done, total)
    assert said == [
        "reading the texts: 4,000",
        "tokenising: 1 of 9,000",
        "tokenising: 3,000 of 9,000",
        "another process prepares the same data; waiting for it",
    ]


def test_lines_go_to_standard_error_and_none_with_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LEAST", -1.0)
    with shown_preparation(quiet=True):
        tell("joining", 0)
    with shown_preparation():
        tell("joining", 0)
    assert capsys.readouterr() == ("", "joining the tokens\n")


@pytest.mark.parametrize(("count", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_300_000_000, "1.3 GB")])
def test_bytes(count: int, text: str) -> None:
    assert in_bytes(count) == text
