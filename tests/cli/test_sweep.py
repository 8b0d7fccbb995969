from __future__ import annotations

import json
from pathlib import Path

import pytest

from glassformer.cli.sweep import variations
from glassformer.errors import UsageError
from glassformer.runs import Run
from glassformer.training import events
from glassformer.training import sweep as library
from small_translator import trained, write_recipe
from typed import typed

run = typed("sweep")


def test_keys_and_values() -> None:
    given = [
        "model.norm_order=pre,post",
        "train.learning_rate=1e-3, 2e-3,1e-3",
        "model.position={kind='x', base=1},alibi",
    ]
    assert variations(given) == {
        "model.norm_order": ["pre", "post"],
        "train.learning_rate": [1e-3, 2e-3],
        "model.position": [{"kind": "x", "base": 1}, "alibi"],
    }
    assert variations(None) == {}


@pytest.mark.parametrize("given", ["model.norm_order", "model.norm_order=", "=pre", "model.norm_order=,"])
def test_a_key_without_values(given: str) -> None:
    with pytest.raises(UsageError, match=r"names no values; write --vary model\.norm_order=pre,post"):
        variations([given])


def test_a_key_given_twice() -> None:
    with pytest.raises(UsageError, match=r"model\.norm is varied twice; name all of its values in one --vary"):
        variations(["model.norm=a", "model.norm=b"])


@pytest.mark.slow
def test_a_sweep_begun_and_continued(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, out = write_recipe(tmp_path, steps=2), tmp_path / "out"
    arguments = (recipe, "--vary", "model.norm_order=pre,post", "--out", out)
    code, text, err = run(capsys, *arguments)
    assert code == 0 and "norm_order=post" in text and "1/1" in text
    assert "1 of 2: norm_order=pre, seed=0: loss" in err
    assert (out / "sweep.png").read_bytes().startswith(b"\x89PNG")
    written = json.loads((out / "sweep.json").read_text(encoding="utf-8"))
    code, text, err = run(capsys, *arguments, "--seeds", "2", "--lang", "ko")
    assert code == 0 and "2/2" in text and "끝난 실행" in text
    assert "4개 중 1번째: norm_order=pre, seed=0 (이미 끝났습니다)" in err
    code, text, err = run(capsys, *arguments, "--seeds", "2", "--json")
    table = json.loads(text)
    assert (code, err) == (0, "")
    assert table["variants"][0]["runs"][0] == written["variants"][0]["runs"][0]
    assert [len(variant["runs"]) for variant in table["variants"]] == [2, 2]


def test_a_sweep_from_a_run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, short = tmp_path / "out", ("--set", "train.steps=2", "--set", "train.warmup=1")
    code, text, _ = run(capsys, trained(tmp_path), "--vary", "model.norm_order=pre,post", "--out", out, *short)
    assert code == 0 and "norm_order=post" in text
    begun = Run.open(out / "model.norm_order=post" / "seed-0").config
    assert (begun.name, begun.train.steps, begun.model.norm_order) == ("small", 2, "post")


def test_stopped_in_between(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "train_watched", lambda job, resume: iter([events.Stopped(1, "interrupted")]))
    code, text, _ = run(capsys, write_recipe(tmp_path, steps=2), "--out", tmp_path / "out", "--seeds", 2)
    assert code == 1 and "the same command goes on" in text and "0/2" in text


@pytest.mark.slow
def test_a_run_that_diverges_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rates = ("--set", "train.optimizer=sgd", "--set", "train.clip=1e30", "--set", "train.skip_limit=1")
    recipe = write_recipe(tmp_path, steps=4)
    code, text, err = run(
        capsys, recipe, "--out", tmp_path / "out", "--vary", "train.learning_rate=1e30", *rates, "--lang", "ko"
    )
    assert code == 0 and "발산했습니다" in err and "0/1" in text


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (("--vary", "model.norm_order"), 2, "names no values"),
        (("--vary", "train.seed=1,2"), 1, "train.seed cannot be varied"),
        (("--seeds", "0"), 1, "seeds=0 is out of range"),
        (("--vary", "model.n_heads=5"), 1, "n_heads=5 does not divide d_model=32"),
    ],
)
def test_what_is_refused(
    arguments: tuple[str, ...], code: int, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out, err = run(capsys, write_recipe(tmp_path), "--out", tmp_path / "out", *arguments)
    assert (found, out, err.count("\n")) == (code, "", 1) and line in err
    assert not (tmp_path / "out").exists()
