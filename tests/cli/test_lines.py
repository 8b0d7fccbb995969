from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassformer.cli.app import main
from glassformer.cli.lines import BLOCK, LINES_AT_ONCE, LONGEST_LINE, Lines, read_arrived
from glassformer.errors import ConfigError, InputError
from glassformer.loading import load
from glassformer.training.begin import begin
from glassformer.training.loop import train
from tiny_tasks import tiny
from typed import typed


def upper(lines: list[str]) -> list[str]:
    if "" in lines:
        raise InputError("empty_text")
    return [line.upper() for line in lines]


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def answers(texts: list[str] | None) -> list[tuple[str, str | None]]:
    return [pair for some in Lines(texts).answered(upper) for pair in some]


def test_arguments_are_answered_some_at_a_time() -> None:
    texts = [str(i) for i in range(2 * LINES_AT_ONCE + 1)]
    found = list(Lines(texts).answered(upper))
    assert [len(some) for some in found] == [LINES_AT_ONCE, LINES_AT_ONCE, 1]
    assert [pair for some in found for pair in some] == [(text, text) for text in texts]


def test_without_arguments_the_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, "\ufeffa\r\n가\nb".encode())
    assert list(Lines(None).answered(upper)) == [[("a", "A"), ("가", "가")], [("b", "B")]]


def test_a_line_that_is_refused_is_complained_of_and_the_others_are_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    long = b"x" * (LONGEST_LINE + BLOCK)
    stdin(monkeypatch, b"a\n\nc\nab\xff\n" + long + b"\ne\n" + long)
    lines = Lines(None)
    found = [pair for some in lines.answered(upper) for pair in some]
    assert found == [("a", "A"), ("", None), ("c", "C"), ("", None), ("", None), ("e", "E"), ("", None)]
    assert (lines.refused, lines.exit_code) == (4, 1)
    assert capsys.readouterr().err.splitlines() == [
        "line 2: the text is empty: there is no token in it; give at least one",
        "line 4 of the input is not UTF-8 (byte 3 of the line); convert it, with iconv for instance",
        "line 5 of the input is longer than 1000000 bytes; does it have line breaks?",
        "line 7 of the input is longer than 1000000 bytes; does it have line breaks?",
    ]


def test_a_person_at_a_terminal_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin(monkeypatch, b"a\n")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    assert answers(None) == [("a", "A")]
    assert "Ctrl-D" in capsys.readouterr().err


def test_what_is_wrong_with_all_lines_is_of_no_line() -> None:
    def refuse(lines: list[str]) -> list[str]:
        raise ConfigError("not_positive", key="temperature", value=0)

    with pytest.raises(ConfigError, match=r"^temperature=0"):
        list(Lines(["a"]).answered(refuse))


def test_a_line_without_end_is_never_all_in_memory() -> None:
    found = list(read_arrived(io.BytesIO(b"ok\n" + b"a" * 10_000_000)))
    assert found[0] == ["ok"] and str(found[1][0]).startswith("line 2 of the input is longer than 1000000 bytes")


VERBS = {
    "translation": ("translate", "{seen} zebrafish"),
    "classification": ("classify", "{seen} zebrafish"),
    "masked_language_model": ("fill", "{seen} zebrafish ___"),
    "language_model": ("generate", "{seen} zebrafish "),
}


def short(task: str, folder: Path) -> str:
    """A run of one step: what it has read is all that counts here; one of the words that it read."""
    config = tiny(task)
    for _ in train(begin(replace(config, train=replace(config.train, steps=1, accumulate=1)), folder)):
        pass
    return sorted(json.loads((folder / "seen.json").read_text())["words"])[0]


def asked(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[Any, str]:
    with pytest.raises(SystemExit) as stop:
        main([*map(str, arguments), "--json"])
    assert stop.value.code in (0, None)
    said = capsys.readouterr()
    return json.loads(said.out), said.err


@pytest.mark.many
@pytest.mark.parametrize("task", VERBS)
def test_words_that_no_training_text_held_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], task: str
) -> None:
    verb, text = VERBS[task]
    word = short(task, tmp_path / "run")
    for command in (verb, "embed"):
        given = text.format(seen=word) if command == verb else f"{word} zebrafish"
        answer, warned = asked(capsys, command, tmp_path / "run", given)
        answer = answer[0] if isinstance(answer, list) else answer
        assert answer["unseen"] in (["zebrafish"], [["zebrafish"]])
        assert warned.count("no training text held: zebrafish; whatever the model makes of them") == 1
        known = given.replace("zebrafish", word)
        answer, warned = asked(capsys, command, tmp_path / "run", known)
        answer = answer[0] if isinstance(answer, list) else answer
        assert answer["unseen"] in ([], [[]]) and "no training text" not in warned


def test_many_words_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short("classification", tmp_path / "run")
    text = " ".join(f"zz{i}" for i in range(11))
    (answer,), warned = asked(capsys, "classify", tmp_path / "run", text)
    assert len(answer["unseen"]) == 11 and "zz7 (+3); whatever" in warned.splitlines()[0]
    assert load(tmp_path / "run").unseen(["zz1 zz1"]) == [["zz1"]]


@pytest.mark.many
@pytest.mark.parametrize("task", VERBS)
def test_a_text_longer_than_all_training_texts_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], task: str
) -> None:
    verb, text = VERBS[task]
    word = short(task, tmp_path / "run")
    longest = json.loads((tmp_path / "run" / "seen.json").read_text())["longest"]
    known = text.format(seen=word).replace("zebrafish", word)
    for command in (verb, "embed", "trace"):
        long = known if command == verb else word
        assert "never read" not in asked(capsys, command, tmp_path / "run", long[:longest])[1]
        while len(long) <= longest + len("___ "):  # a gap does not count
            long = f"{word} {long}"
        code, document, warned = typed(command)(capsys, tmp_path / "run", long, "--json", "--lang", "en")
        if code == 0:  # else it is longer than the model can read, and refused
            assert f"characters, and the longest training text had {longest}; the model has never read" in warned
            answer = json.loads(document)
            answer = answer[0] if isinstance(answer, list) else answer
            assert answer["longer_than"] in (longest, [longest])
    assert load(tmp_path / "run").longer(["a" * longest, "a" * (longest + 1)]) == [None, longest]


def test_an_older_run_knows_no_length(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    word = short("classification", tmp_path / "run")
    path = tmp_path / "run" / "seen.json"
    path.write_text(json.dumps({key: x for key, x in json.loads(path.read_text()).items() if key != "longest"}))
    (answer,), warned = asked(capsys, "classify", tmp_path / "run", f"{word} {word} {word} {word} {word}")
    assert (answer["longer_than"], warned) == (None, "")
