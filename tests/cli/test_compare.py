from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from glassformer.runs import Run
from glassformer.runs.manifest import MANIFEST, write_manifest
from glassformer.runs.weights import WEIGHTS_FILE, choose_weights
from reference import reference
from small_translator import trained
from typed import typed

HANGUL = re.compile(r"[가-힣]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return trained(tmp_path)


run = typed("compare")


def altered(folder: Path, name: str, value: float) -> Path:
    """A copy of a run with one number of one weight changed."""
    copy = Path(shutil.copytree(folder, folder.with_name("altered")))
    checkpoint = choose_weights(Run.open(copy)).parent
    tensors = load_file(checkpoint / WEIGHTS_FILE)
    tensors[name][3] = value
    save_file(tensors, checkpoint / WEIGHTS_FILE)
    (checkpoint / MANIFEST).unlink()
    write_manifest(checkpoint)
    return copy


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_same_run_twice(lang: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, folder, "--lang", lang)
    assert (code, err) == (0, "")
    assert ("identical at all" in out) is (lang == "en") and bool(HANGUL.search(out)) is (lang == "ko")


def test_the_first_tap_that_differs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = altered(folder, "decoder.blocks.0.feed_forward.w_1.bias", 9.0)
    code, out, err = run(capsys, folder, other, "나는 학교에 간다")
    assert (code, err) == (0, "")
    assert "first difference: decoder.blocks.0.feed_forward.hidden" in out and "head.logits" in out
    assert "max |Δ|" in out and "answers (argmax)" in out
    document = json.loads(run(capsys, folder, other, "나는 학교에 간다", "--json")[1])
    assert document["first"]["tap"] == "decoder.blocks.0.feed_forward.hidden"
    assert document["inputs"] == [1, 4] and document["identical"] is False
    calm = json.loads(run(capsys, folder, other, "--tolerance", "1e9", "--json")[1])
    assert calm["first"] is None and calm["same"] is True and calm["identical"] is False


def test_structures_that_part(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "small-encoder", "small-decoder")
    assert code == 0 and "the structures part at tap 2: A encoder.positions.encoding" in out


@pytest.mark.many
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("small-encoder", "deit-tiny"), "A reads tokens, B reads image 3×224×224: no input fits both"),
        (("small-encoder", "small-encoder", "나는"), "small-encoder has no tokenizer to read texts with"),
        (("small-encoder", "smal-encoder"), "smal-encoder"),
        (("small-encoder", "small-encoder", "--tolerance", "-1"), "tolerance=-1.0 is not a tolerance; use 0 or more"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (1, "", 1) and line in err
    code, _, err = run(capsys, *arguments, "--lang", "ko")
    assert code == 1 and HANGUL.search(err)


def test_a_folder_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, tmp_path, "small-encoder")
    assert code == 1 and err.count("\n") == 1 and str(tmp_path) in err


def test_numbers_that_are_none_are_null_in_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = altered(folder, "encoder.blocks.0.feed_forward.w_1.weight", 3e38)  # finite, and what it gives is not
    document = json.loads(run(capsys, folder, other, "--json")[1])
    assert document["first"]["tap"] == "encoder.blocks.0.feed_forward.hidden"
    assert document["first"]["relative"] is None and document["first"]["b"] is None


def test_a_weight_that_is_none_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, folder, altered(folder, "encoder.blocks.0.feed_forward.w_1.bias", math.nan))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "encoder.blocks.0.feed_forward.w_1.bias: 1 of its" in err


@pytest.fixture
def gpt2() -> Path:
    return reference("gpt2")[1]


@pytest.mark.slow
def test_beside_a_live_model(gpt2: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, gpt2, gpt2, "--transformers")
    assert (code, err) == (0, "")
    assert "B: GPT2LMHeadModel" in out and "all 16 matched taps agree within 0.0001 (relative)" in out
    document = json.loads(run(capsys, gpt2, gpt2, "--transformers", "--json")[1])
    assert document["matched"] and document["same"] and document["tolerance"] == 1e-4
    strict = json.loads(run(capsys, gpt2, gpt2, "--transformers", "--json", "--tolerance", "0")[1])
    assert not strict["same"] and strict["first"]["relative"] < 1e-6


def test_two_imported_models(gpt2: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, gpt2, gpt2)
    assert (code, err) == (0, "") and "identical at all 45 taps" in out


def test_a_live_model_that_is_none(gpt2: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, gpt2, tmp_path, "--transformers")
    assert (code, out, err.count("\n")) == (1, "", 1) and "cannot be opened by transformers" in err
