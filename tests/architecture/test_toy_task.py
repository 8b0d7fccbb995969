"""A task is one folder and one line: `toy_task.py` stands for the folder, and `monkeypatch` adds the line."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from glassformer.cli.progress import farewell
from glassformer.config.recipe import RunConfig
from glassformer.errors import InputError
from glassformer.files import read_json
from glassformer.runs import Run
from glassformer.tasks import TASKS
from glassformer.tasks.own import own_file_lines, own_recipe
from glassformer.tasks.samples import read_samples
from glassformer.training.begin import again, begin
from glassformer.training.loop import train
from glassformer.training.pictures import draw_run
from tiny_tasks import MODEL, TRAIN
from toy_task import PARITY, ParityEvaluation, tell
from typed import typed

RECIPE: dict[str, Any] = {
    "run": {"name": "toy", "task": {"kind": "parity", "length": 3}},
    "data": {"source": {"kind": "bits", "count": 24}},
    "text": {"tokenizer": "characters", "vocab_size": 0, "begin": "cls"},
    "model": MODEL
    | {"family": "encoder", "n_encoder_layers": 1, "head": {"kind": "classifier", "pool": "cls", "classes": 2}},
    "train": TRAIN | {"evaluate_every": 20, "save_every": 20},
}


@pytest.fixture(autouse=True)
def one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "parity", PARITY)


def trained(folder: Path, steps: int) -> Path:
    for _ in train(begin(RunConfig.from_dict(RECIPE | {"train": RECIPE["train"] | {"steps": steps}}), folder)):
        pass
    return folder


@pytest.mark.slow
def test_it_learns_samples_and_says_what_to_try(tmp_path: Path) -> None:
    folder = trained(tmp_path / "run", 40)
    run = Run.open(folder)
    last = [record for record in run.log.read() if record["kind"] == "evaluation"][-1]
    assert last["accuracy"] == last["sampled"] == 1.0
    assert [row["translation"] in ("even", "odd") for row in read_samples(run, 40)] == [True] * 4
    first = read_samples(run, 40)[0]["source"]
    assert f"  glassformer tell {shlex.quote(str(folder))} {first}" in farewell(run, 40)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in draw_run(run))


@pytest.mark.slow
def test_it_is_used_judged_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = trained(tmp_path / "run", 40)
    loaded = gf.load(folder)
    assert tell(loaded, ["100", "101", "111"]) == ["even", "odd", "odd"]
    with pytest.raises(InputError, match=r"the task 'parity', and cannot translate; use glassformer tell$"):
        gf.translate(loaded, "101")
    found = gf.evaluate(loaded, "test")
    assert isinstance(found, ParityEvaluation) and (found.total.right.value, found.readings) == (1.0, 1)
    assert len(found.hypotheses["test"]) == 24 and "100.0 [" in repr(found) and "<table" in found._repr_html_()
    code, out, _ = typed("evaluate")(capsys, folder, "--split", "test", "--json")
    assert code == 0 and '"readings": 2' in out


@pytest.mark.slow
def test_it_resumes_bit_for_bit(tmp_path: Path) -> None:
    whole, halves = trained(tmp_path / "whole", 40), trained(tmp_path / "halves", 20)
    for _ in train(again(halves, {"train.steps": 40}), resume=True):
        pass
    both = [folder / "checkpoints" / "step-00000040" for folder in (whole, halves)]
    names = sorted(path.name for path in both[0].glob("*.safetensors"))
    assert names and all((both[0] / name).read_bytes() == (both[1] / name).read_bytes() for name in names)
    assert read_json(both[0] / "manifest.json")["format"] == read_json(both[1] / "manifest.json")["format"]


def test_its_options_are_checked(tmp_path: Path) -> None:
    wrong = RECIPE | {"run": {"name": "toy", "task": {"kind": "parity", "lenght": 3}}}
    with pytest.raises(gf.ConfigError, match="lenght"):
        begin(RunConfig.from_dict(wrong), tmp_path / "run")


def test_it_takes_files_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "some bits.txt"
    path.write_text("".join(f"{number:05b}\n" for number in range(30)), encoding="utf-8")
    own = own_recipe(path, "parity")
    assert own is not None and (own.task, own.recipe) == ("parity", "own-parity")
    assert own.settings == {"run.name": "some-bits", "data.source.train": str(path), "data.validation": 3}
    config = RunConfig.from_dict(RECIPE | {"data": {"source": {"kind": "lines", "train": str(path)}}})
    assert [phrase.say("en") for phrase in own_file_lines(config)] == [f"{path}: 30 lines"]
    assert list(own_file_lines(RunConfig.from_dict(RECIPE))) == []
