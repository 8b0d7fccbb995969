from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from glassformer.cli.app import main
from glassformer.models.presets import PRESETS
from typed import typed

HANGUL = re.compile(r"[가-힣]")
CLASSIFIER = [  # every row of one layer: label, formula in symbols, in numbers, parameters, trained, buffers
    ("token embedding", "vocab_size×d_model", "30522×32", 976_704, 976_704, 0),
    ("positional encoding (sinusoidal)", "max_len×d_model", "400×32", 0, 0, 12_800),
    ("Q, K, V", "3×(d_model×d_model+d_model)", "3×(32×32+32)", 3_168, 3_168, 0),
    ("attention output", "d_model×d_model+d_model", "32×32+32", 1_056, 1_056, 0),
    ("LayerNorm, multi-head self-attention", "2×d_model", "2×32", 64, 64, 0),
    ("feed-forward", "d_model×d_ff+d_ff+d_ff×d_model+d_model", "2×(32×32+32)", 2_112, 2_112, 0),
    ("LayerNorm, feed-forward", "2×d_model", "2×32", 64, 64, 0),
    ("classifier", "d_model×classes+classes", "32×1+1", 33, 33, 0),
]


run = typed("count")


def counted(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    document: dict[str, Any] = json.loads(out)
    return document


def cells(out: str) -> dict[str, list[str]]:
    """The printed table: label → the other cells, lines of one cell joined again."""
    rows: list[list[str]] = []
    for line in out.splitlines():
        if line.startswith(("│", "┃")):
            row = [cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")]
            if row[0]:
                rows.append(row)
            else:
                rows[-1] = [f"{above} {below}".strip() for above, below in zip(rows[-1], row, strict=True)]
    return {row[0]: row[1:] for row in rows}


# --- the counts that can be checked by hand ---


def test_one_layer_of_the_classifier_row_by_row(capsys: pytest.CaptureFixture[str]) -> None:
    document = counted(capsys, "mini-classifier", "--layers", "1")
    found = [
        (part["formula"], part["numbers"], part["parameters"], part["trained"], part["buffers"])
        for part in document["parts"]
    ]
    assert found == [row[1:] for row in CLASSIFIER]
    assert document["total"] == {"parameters": 983_201, "trained": 983_201, "buffers": 12_800}


def test_five_layers_of_the_classifier(capsys: pytest.CaptureFixture[str]) -> None:
    document = counted(capsys, "mini-classifier")
    assert document["total"] == {"parameters": 1_009_057, "trained": 1_009_057, "buffers": 12_800}
    assert 976_704 + 5 * 6_464 + 33 == 1_009_057
    layers = [part for part in document["parts"] if ".blocks." in part["name"]]
    assert [sum(p["parameters"] for p in layers if f".blocks.{i}." in p["name"]) for i in range(5)] == [6_464] * 5


def test_the_printed_table_of_the_classifier(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "mini-classifier", "--layers", "1")
    assert (code, err) == (0, "")
    table = cells(out)
    assert table.pop("part") == ["formula", "parameters", "trained", "buffers", "share"]
    for label, symbols, numbers, parameters, trained, buffers in CLASSIFIER:
        shown = table.pop(label)
        assert shown[:4] == [f"{symbols} = {numbers}", f"{parameters:,}", f"{trained:,}", f"{buffers:,}"]
    assert table.pop("multi-head self-attention")[:3] == ["3,168 + 1,056", "4,224", "4,224"]
    assert table.pop("encoder, 1 layer")[1:] == ["6,464", "6,464", "0", "0.7 %"]
    assert table.pop("total")[1:4] == ["983,201", "983,201", "12,800"]
    assert table == {}


def test_the_layers_are_printed_once_with_their_number(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "mini-classifier")
    table = cells(out)
    assert table["encoder, one of 5 layers"][1] == "6,464"
    assert table["encoder, all 5 layers"][:2] == ["5×6,464", "32,320"]
    assert table["total"][1:4] == ["1,009,057", "1,009,057", "12,800"]
    assert table["token embedding"][-1] == "96.8 %"


def test_the_table_in_korean_has_the_same_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    _, english, _ = run(capsys, "mini-classifier", "--lang", "en")
    _, korean, _ = run(capsys, "mini-classifier", "--lang", "ko")
    one, other = cells(english), cells(korean)
    assert list(one.values())[1:] == list(other.values())[1:]
    assert [label for label in other if not HANGUL.search(label)] == ["Q, K, V"]
    assert other["구성 요소"] == ["계산식", "파라미터", "학습 대상", "버퍼", "비중"]
    assert other["합계"][1] == "1,009,057"


def test_the_encoder_of_the_lesson(capsys: pytest.CaptureFixture[str]) -> None:
    document = counted(capsys, "lesson-encoder")
    assert document["total"] == {"parameters": 4_739_072, "trained": 4_739_072, "buffers": 5_000 * 256}
    assert 6 * 789_760 + 512 == 4_739_072
    wide = counted(capsys, "lesson-encoder", "--layers", "1", "--set", "d_model=512", "--set", "d_ff=2048")
    assert sum(part["parameters"] for part in wide["parts"] if ".blocks.0." in part["name"]) == 3_152_384


# --- the JSON is a contract ---


@pytest.mark.many
@pytest.mark.parametrize("name", PRESETS)
def test_the_json_of_every_preset(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = counted(capsys, name)
    assert document["model"] == name
    for part in document["parts"]:
        assert isinstance(part["name"], str)
        assert isinstance(part["formula"], str)
    for key in ("parameters", "trained", "buffers"):
        numbers = [part[key] for part in document["parts"]]
        assert {type(number) for number in [*numbers, document["total"][key]]} == {int}
        assert sum(numbers) == document["total"][key]
        assert min(numbers) >= 0
    assert len({part["name"] for part in document["parts"]}) == len(document["parts"])
    assert document == gf.count(name).to_json()


def test_the_json_is_the_same_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    assert counted(capsys, "gpt2", "--lang", "ko") == counted(capsys, "gpt2", "--lang", "en")


@pytest.mark.slow
def test_the_real_command_prints_json() -> None:
    command = [sys.executable, "-m", "glassformer", "count", "mini-classifier", "--layers", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["total"]["trained"] == 983_201


def test_a_tied_head_holds_nothing_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    head = counted(capsys, "gpt2")["parts"][-1]
    assert (head["name"], head["parameters"], head["tied"]) == ("head", 0, "embedding")
    _, out, _ = run(capsys, "gpt2", "--lang", "en")
    assert cells(out)["language-model head"][0] == "0, shares embedding"
    _, out, _ = run(capsys, "gpt2", "--lang", "ko")
    assert cells(out)["언어 모델 헤드"][0] == "0, embedding의 가중치 공유"


# --- models that are not presets ---


def test_a_file_and_its_overrides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "모델 [1].toml"
    path.write_text('[model]\npreset = "mini-classifier"\nn_encoder_layers = 1\n', encoding="utf-8")
    document = counted(capsys, str(path))
    assert (document["model"], document["total"]["parameters"]) == (str(path), 983_201)
    wider = counted(capsys, str(path), "--set", "model.d_ff=64", "--set", "head.classes=2")
    assert wider["total"]["parameters"] == 983_201 + 2 * 32 * 32 + 32 + 33
    code, out, _ = run(capsys, str(path))
    assert code == 0
    assert "모델 [1].toml" in re.sub(r"\s*\n\s*", "", out)


# --- what cannot be counted: one line, exit code 1, nothing on stdout, both languages ---


REFUSED = [
    (("gpt3",), "'gpt3' is neither a preset nor a trained model nor a file; did you mean gpt2?"),
    (("",), "'' is neither a preset nor a trained model nor a file; there are: "),
    (("none.toml",), "none.toml: no such file; check the path, or name a preset (glassformer presets)"),
    (("/",), "/ is not a run: it has no config.toml; name the folder that training wrote"),
    (("/dev/zero",), "/dev/zero: no such file; check the path"),
    (("a" * 5_000,), "a" * 399 + "… cannot be read: File name too long; check the path and its permissions"),
    (("gpt2", "--set", "d_modl=3"), "d_modl: no such key; did you mean d_model?"),
    (("gpt2", "--set", "model=3"), "model: no such key; did you mean d_model?"),
    (("gpt2", "--set", "layers=3"), "layers: no such key; there are: "),
    (("gpt2", "--set", "positon.base=3"), "positon.base: no such key; did you mean position?"),
    (
        ("mini-classifier", "--set", "position.bsae=3"),
        "position.bsae: 'sinusoidal' has no such option; did you mean base?",
    ),
    (("gpt2", "--set", "n_heads=5"), "n_heads=5 does not divide d_model=768; use 4, 6, or set d_k"),
    (("gpt2", "--set", "d_model=0"), "d_model=0 is out of range; use 1 to 2147483647"),
    (("gpt2", "--set", "d_model=-8"), "d_model=-8 is out of range; use 1 to 2147483647"),
    (("gpt2", "--set", "d_model=1.5"), "d_model=1.5 is of the wrong type; use a whole number, such as 512"),
    (("gpt2", "--set", "d_model=large"), "d_model='large' is of the wrong type; use a whole number, such as 512"),
    (
        ("gpt2", "--set", "d_model=" + "9" * 4_000),
        "d_model=a number of over 15 digits is out of range; use 1 to 2147483647",
    ),
    (("gpt2", "--set", "d_model=" + "9" * 9_000), "d_model='9999999999"),
    (("gpt2", "--set", "d_model=0x" + "f" * 9_000), "d_model=a number of over 15 digits is out of range"),
    (("gpt2", "--set", "norm=0x" + "f" * 9_000), "norm=a number of over 15 digits is of the wrong type"),
    (
        ("gpt2", "--set", "d_model=8\nd_ff=8"),
        "d_model='8\\nd_ff=8' is of the wrong type; use a whole number, such as 512",
    ),
    (("gpt2", "--set", "dropout=nan"), "dropout=nan is not a rate; use 0 or more, and less than 1"),
    (("gpt2", "--set", "dropout=inf"), "dropout=inf is not a rate; use 0 or more, and less than 1"),
    (("gpt2", "--set", "eps=inf"), "eps=inf is not positive and finite; use a number above 0"),
    (("gpt2", "--set", "eps=" + "9" * 4_000), "eps=a number of over 15 digits is not positive and finite"),
    (("gpt2", "--set", "norm=" + "[" * 9_000), "norm='[[[["),
    (
        ("gpt2", "--set", "n_decoder_layers=0"),
        "n_decoder_layers=0, but family=decoder has that side; use at least 1",
    ),
]


def refused(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], line: str) -> None:
    for lang in ("en", "ko"):
        code, out, err = run(capsys, *arguments, "--lang", lang)
        assert (code, out) == (1, "")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        assert "something went wrong" not in err
        assert len(err) < 2_000
        if lang == "en":
            assert err.startswith(line)
        else:
            assert HANGUL.search(err)


@pytest.mark.many
@pytest.mark.parametrize(("arguments", "line"), REFUSED, ids=[" ".join(words)[:40] for words, _ in REFUSED])
def test_what_cannot_be_counted_is_one_line(
    arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(capsys, arguments, line)


HOSTILE = {
    "binary": (bytes(range(256)), "is not UTF-8 text (byte 128); save it as UTF-8"),
    "invalid UTF-8": (b"[model]\n# \xff", "is not UTF-8 text (byte 10); save it as UTF-8"),
    "thousands of digits": (
        b"[model]\nd_ff = " + b"9" * 9_000,
        "holds a number of over 4,300 digits; write a shorter one",
    ),
    "deep": (b"[model]\nd_ff = " + b"[" * 9_000, "is nested too deeply; a configuration has two levels"),
    "dotted": (b"[model]\n" + b"a." * 100_000 + b"a = 1", "is nested too deeply; a configuration has two levels"),
    "too large": (b"#" * 2_000_000, "has 2000000 bytes, more than a configuration may have"),
    "empty": (b"", "has no [model] table; put the keys of the model under [model]"),
    "no table": (b"model = 1", "has no [model] table; put the keys of the model under [model]"),
    "no TOML": (b"{'model': 1}", "is not TOML: "),
}


@pytest.mark.many
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_one_line(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, line = HOSTILE[case]
    path = tmp_path / "hostile.toml"
    path.write_bytes(content)
    refused(capsys, (str(path),), f"{path} {line}")


@pytest.mark.many
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("d_modl = 5", "d_modl: no such key; did you mean d_model?"),
        ('"\\u001b[31m" = 5', "\\x1b[31m: no such key; there are: "),
        (f"{'k' * 100_000} = 5", "k" * 399 + "…: no such key; there are: "),
        ("eps = nan", "eps=nan is not positive and finite; use a number above 0"),
        ("eps = -inf", "eps=-inf is not positive and finite; use a number above 0"),
        ("d_ff = 1979-05-27", "d_ff=datetime.date(1979, 5, 27) is of the wrong type; use a whole number, such as 512"),
        ("head = { pool = 'cls' }", 'head is a table without kind; add kind = "…"'),
        ("head = { kind = ['x'] }", "head.kind=['x'] is of the wrong type; use a word in quotes"),
        ("[model.head.kind]\nx = 5", "head.kind={'x': 5} is of the wrong type; use a word in quotes"),
        ("preset = 'gtp2'", "'gtp2' is not a preset; did you mean gpt2?"),
        ("preset = []", "[] is not a preset; there are: "),
    ],
    ids=lambda value: value[:30],
)
def test_a_file_with_an_impossible_value_is_one_line(
    text: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"[model]\n{text}\n", encoding="utf-8")
    refused(capsys, (str(path),), line)


def test_a_batch_or_a_length_shows_the_costs_of_a_pass(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(("count", "gpt2", "--batch", "2", "--length", "16", "--causal", "triangle", "--json"))
    assert stop.value.code == 0
    document = json.loads(capsys.readouterr().out)
    assert document["pass"] == {
        "batch": 2,
        "length": 16,
        "target_length": None,
        "dtype": "float32",
        "training": True,
        "past": 0,
        "causal": "triangle",
        "kernel": "fused",
        "device": "cpu",
        "autocast": False,
        "recompute": False,
        "optimizer": "adamw",
        "loss": "chunks",
        "beams": 1,
        "compiled": True,
    }
    assert document["memory"]["peak_bytes"] > document["cost_total"]["saved_bytes"]
    scores = next(cost for cost in document["costs"] if cost["name"] == "decoder.blocks.0.self_attention.scores")
    assert scores["flops_forward"] == 2 * 2 * 2 * 12 * (16 * 17 // 2) * 64
    with pytest.raises(SystemExit) as stop:
        main(("count", "gpt2", "--length", "0", "--lang", "en"))
    assert stop.value.code == 1
    assert capsys.readouterr().err == "length=0 is out of range; use 1 to 2147483647\n"


@pytest.mark.many
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("gpt2", "--dtype", "float8"), "dtype='float8' is unknown; use one of: float32, bfloat16, float16, float64"),
        (("gpt2", "--causal", "x"), "causal='x' is unknown; use one of: square, triangle"),
        (("gpt2", "--kernel", "x"), "kernel='x' is unknown; use one of: reference, fused"),
        (("gpt2", "--device", "x"), "device='x' is unknown; use one of: cpu, cuda"),
        (("gpt2", "--optimizer", "x"), "optimizer='x' is unknown; use one of: adamw, adam, momentum, lion, sgd"),
        (
            ("gpt2", "--length", "5000"),
            "the text has 5000 positions, and max_len=1024; shorten it, or set a larger max_len",
        ),
        (
            ("gpt2", "--decode", "--past", "1024"),
            "the text has 1025 positions, and max_len=1024; shorten it, or set a larger max_len",
        ),
        (
            ("paper-base", "--length", "8", "--target-length", "9000"),
            "the text has 9000 positions, and max_len=5000; shorten it, or set a larger max_len",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_is_refused_with_and_without_a_pass(
    arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, *arguments) == (1, "", f"{line}\n")
    code, out, err = run(capsys, *arguments, "--lang", "ko")
    assert (code, out, err.count("\n"), bool(HANGUL.search(err))) == (1, "", 1, True)


@pytest.mark.parametrize("position", ["rotary", "alibi", "relative", "none"])
def test_positions_without_a_table_have_no_end(position: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = counted(capsys, "gpt2", "--length", "5000", "--set", f"position={position}")
    assert found["pass"]["length"] == 5000
