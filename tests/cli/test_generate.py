from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

import warm
from glassformer.cli import generate as command
from glassformer.tasks.language_model.write import Pen, Writing, write
from small_models import saved, small
from typed import typed

PROMPT = "나는 학교에"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(small("language_model"), tmp_path_factory.mktemp("run"))


run = typed("generate")


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_the_prompt_and_how_it_goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = str(write(small("language_model"), PROMPT, Writing(tokens=10)))
    assert run(capsys, folder, PROMPT, "--tokens", 10) == (0, f"{expected}\n", "")


def test_the_prompt_from_the_input(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for data, prompt in ((f"{PROMPT}\r\nhe\n", f"{PROMPT}\nhe"), ("", "")):
        stdin(monkeypatch, data.encode())
        expected = run(capsys, folder, prompt, "--tokens", 5)
        assert expected[0] == 0 and run(capsys, folder, "--tokens", 5) == expected


def test_a_person_at_a_terminal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert command._standard_input() == ""
    monkeypatch.setattr(sys, "stdin", None)
    assert command._standard_input() == ""


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, folder, PROMPT, "--tokens", 5, "--json")[1])
    assert found == vars(write(small("language_model"), PROMPT, Writing(tokens=5))) | {
        "unseen": [],
        "longer_than": None,
    }
    assert set(found) == {"prompt", "text", "tokens", "ended", "unseen", "longer_than"}


def test_what_is_drawn_can_be_drawn_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = (folder, PROMPT, "--tokens", 20, "--temperature", 1.5, "--top-k", 50, "--top-p", 0.95, "--json")
    first, other = (json.loads(run(capsys, *options)[1]) for _ in range(2))
    assert first != other  # a seed of its own each time
    assert json.loads(run(capsys, *options, "--seed", first["seed"])[1]) == first


def test_beam_and_stop(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = write(small("language_model"), PROMPT, Writing(tokens=10, beam=3)).text
    assert run(capsys, folder, PROMPT, "--tokens", 10, "--beam", 3)[1] == f"{PROMPT}{text}\n"
    code, out, _ = run(capsys, folder, PROMPT, "--tokens", 10, "--beam", 3, "--stop", text[2:4], "--stop", "xyz")
    assert (code, out) == (0, f"{PROMPT}{text[: text.index(text[2:4])]}\n")


def test_what_a_terminal_would_obey_is_shown_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, shown in ((Terminal(), "a\\x1b[31m\n\t한"), (io.StringIO(), "a\x1b[31m\n\t한")):
        monkeypatch.setattr(sys, "stdout", stream)
        command._show("a\x1b[31m\n\t한")
        assert stream.getvalue() == shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tokens", 0), "tokens=0 is out of range"),
        (("--tokens", 99), "99 tokens do not fit after a prompt of 3"),
        (("--temperature", -1), "temperature=-1"),
        (("--top-p", 2), "top_p=2"),
        (("--beam", 2, "--seed", 3), "beam=2 searches for the best text"),
        (("--stop", ""), "a stop text is empty"),
    ],
)
def test_bad_options_are_one_line(
    options: tuple[object, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, folder, PROMPT, *options)
    assert (code, out, err.count("\n")) == (1, "", 1) and err.startswith(said)


def test_a_model_that_does_not_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, saved(small("translation"), tmp_path), PROMPT, "--lang", "ko")
    assert (code, out) == (1, "") and err.endswith("glassformer translate 명령을 쓰세요\n")


def test_interrupted_it_is_done(tmp_path: Path) -> None:
    endless = saved(small("language_model", position="rotary"), tmp_path)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [*warm.command(), "generate", str(endless), PROMPT, "--tokens", "10000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as started:
        assert started.stdout is not None and started.stderr is not None
        begun = started.stdout.read(len(PROMPT.encode()) + 3)  # text is coming
        started.send_signal(signal.SIGINT)
        rest, error = started.stdout.read(), started.stderr.read()
        assert (started.wait(timeout=60), error) == (0, b"")
    assert begun.startswith(PROMPT.encode()) and rest.endswith(b"\n")
    (begun + rest).decode()  # no syllable was cut


def test_what_was_written_before_an_interruption_stays() -> None:
    class Interrupted(Pen):
        def __iter__(self) -> Iterator[str]:
            yield from islice(super().__iter__(), 2)
            raise KeyboardInterrupt

    pen = Interrupted(small("language_model"), PROMPT, Writing())
    command._write(pen, shown=False)
    assert pen.written.ended == "interrupted" and pen.written.text
