from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassformer.cli.app import main
from glassformer.loading import load
from glassformer.training.begin import begin
from glassformer.training.loop import train
from tiny_tasks import tiny

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
        assert (
            warned.count("\n") == 1 and "no training text held: zebrafish; whatever the model makes of them" in warned
        )
        known = given.replace("zebrafish", word)
        answer, warned = asked(capsys, command, tmp_path / "run", known)
        answer = answer[0] if isinstance(answer, list) else answer
        assert answer["unseen"] in ([], [[]]) and warned == ""


def test_many_words_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short("classification", tmp_path / "run")
    text = " ".join(f"zz{i}" for i in range(11))
    (answer,), warned = asked(capsys, "classify", tmp_path / "run", text)
    assert len(answer["unseen"]) == 11 and warned.count("\n") == 1 and "zz7 (+3); whatever" in warned
    assert load(tmp_path / "run").unseen(["zz1 zz1"]) == [["zz1"]]
