from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import warm
from small_models import saved, small
from small_translator import ENGLISH, KOREAN, trained
from typed import typed

HANGUL = re.compile(r"[가-힣]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("run"))


run = typed("translate")


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_arguments(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, folder, *KOREAN[:2], "") == (0, f"{ENGLISH[0]}\n{ENGLISH[1]}\n\n", "")


@pytest.mark.parametrize(
    "options",
    [
        ("--beam", 1),
        ("--length-norm", "power", "--length-penalty", 1, "--stop", "exhaustive"),
        ("--length-norm", "none"),
    ],
)
def test_ways_to_search(options: tuple[object, ...], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, folder, KOREAN[0], *options) == (0, f"{ENGLISH[0]}\n", "")


def test_lines_of_the_input_keep_their_places(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [KOREAN[0], "", KOREAN[1], "", *KOREAN * 4]  # more than are translated at once
    stdin(monkeypatch, "\ufeff".encode() + "\r\n".join(lines).encode())
    code, out, err = run(capsys, folder)
    assert (code, err) == (0, "")
    assert out.split("\n") == [ENGLISH[0], "", ENGLISH[1], "", *ENGLISH * 4, ""]


def test_no_input_no_output(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"")
    assert run(capsys, folder) == (0, "", "")


def test_n_best_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, folder, KOREAN[0], "--nbest", 3)
    rows = [line.split("\t") for line in out.splitlines()]
    assert code == 0 and [len(row) for row in rows] == [2, 2, 2] and rows[0][1] == ENGLISH[0]
    (answer,) = json.loads(run(capsys, folder, KOREAN[0], "--nbest", 3, "--json")[1])
    assert answer["source"] == KOREAN[0] and len(answer["translations"]) == 3
    assert set(answer["translations"][0]) == {"text", "score", "log_probability"}


@pytest.mark.parametrize(
    ("lang", "line"),
    [("en", "line 2 of the input is not UTF-8 (byte 4 of the line)"), ("ko", "2번째 줄이 UTF-8이 아닙니다")],
)
def test_what_is_no_text_is_one_line(
    lang: str, line: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin(monkeypatch, f"{KOREAN[0]}\n".encode() + b"abc\xff\n")
    code, _, err = run(capsys, folder, "--lang", lang)
    assert (code, err.count("\n")) == (1, 1) and line in err


def test_what_has_arrived_is_answered_before_the_rest_comes(folder: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [*warm.command(), "translate", str(folder), "--beam", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as started:
        assert started.stdin is not None and started.stdout is not None
        for source, target in zip(KOREAN[:3], ENGLISH[:3], strict=True):
            started.stdin.write(f"{source}\n".encode())
            started.stdin.flush()
            assert started.stdout.readline().decode() == f"{target}\n"
        started.stdin.close()
        assert started.wait(timeout=60) == 0


@pytest.mark.parametrize(
    ("lang", "line"),
    [
        ("en", "line 3: the text has 41 positions, and at most 32 are read; shorten it, or cut it with --truncate"),
        ("ko", "3번째 줄: 텍스트의 위치가 41개인데"),
    ],
)
def test_a_line_that_is_too_long_is_named_and_the_others_are_answered(
    lang: str, line: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin(monkeypatch, f"{KOREAN[0]}\n{KOREAN[1]}\n{'나는 ' * 40}\n{KOREAN[2]}\n".encode())
    code, out, err = run(capsys, folder, "--lang", lang)
    assert (code, out, err.count("\n")) == (1, f"{ENGLISH[0]}\n{ENGLISH[1]}\n\n{ENGLISH[2]}\n", 1)
    assert err.startswith(line)


def test_a_model_that_translates_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, saved(small("language_model"), tmp_path), "가")
    assert (code, out) == (1, "")
    assert err.endswith("the task 'language_model', and cannot translate; use glassformer generate\n")


def test_a_search_that_is_refused_for_every_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, *KOREAN[:2], "--beam", 0)
    assert (code, out) == (1, "") and "beam=0" in err
