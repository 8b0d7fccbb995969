from __future__ import annotations

import json
import re
from typing import Any

import pytest

import glassformer as gf
from typed import typed

HANGUL = re.compile(r"[가-힣]")


run = typed("plan")


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    document: dict[str, Any] = json.loads(out)
    return document


def test_json_is_that_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    words = "llama3-8b --tokens 1.5T --device h200 --devices 64 --parallel fsdp --batch 2 --length 4096 --accumulate 3"
    words += " --optimizer lion --checkpointing full --no-sync --precision pure --utilisation 0.5 --price 2.5"
    words += " --set n_kv_heads=4 --causal triangle"
    job = gf.Job(
        devices=64,
        batch=2,
        length=4096,
        accumulate=3,
        optimizer="lion",
        checkpointing="full",
        no_sync=True,
        precision="pure",
        causal="triangle",
    )
    library = gf.plan("llama3-8b", tokens=15 * 10**11, device="h200", job=job, utilisation=0.5, price=2.5, n_kv_heads=4)
    assert planned(capsys, *words.split()) == json.loads(json.dumps(library.to_json()))


def test_json_has_what_programs_need(capsys: pytest.CaptureFixture[str]) -> None:
    document = planned(capsys, "gpt2", "--tokens", "300B", "--device", "a100-40", "--devices", "8", "--mfu", "0.3")
    assert document["fits"] is True
    assert {item["name"] for item in document["memory"]["items"]} >= {"master_weights", "gradients", "activations"}
    assert document["assumptions"]["mfu"] == 0.3
    assert document["mfu"] == pytest.approx(0.3)
    assert document["cost"] is None
    assert document["curve"][-1]["devices"] == 10_000


@pytest.mark.parametrize(("lang", "text"), [("en", "It fits: "), ("ko", "들어갑니다: ")])
def test_the_table_speaks_both_languages(lang: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "gpt2", "--tokens", "300B", "--device", "h100", "--lang", lang)
    assert (code, err) == (0, "")
    assert text in out


@pytest.mark.slow
def test_without_a_device_this_machine_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    document = planned(capsys, "shakespeare-char", "--tokens", "20M")
    assert document["device"]["name"] == "this-machine"
    assert document["seconds"] > 0


REFUSED = [
    (("--tokens", "300X"), 1, "tokens=300X is not an amount; write 300B, 1.5T, 20M or 3e9"),
    (("--tokens", "-3"), 1, "tokens=-3 is not an amount"),
    (("--device", "h300"), 1, "device='h300' is unknown; use one of: h200, h100"),
    (("--devices", "0"), 1, "devices=0 is out of range; use 1 to 1000000"),
    (("--devices", "x"), 2, "--devices x is not valid; use a whole number"),
    (("--parallel", "tp"), 1, "parallel='tp' is unknown; use one of: ddp, fsdp"),
    (("--length", "4096"), 1, "the text has 4096 positions, and max_len=1024; shorten it"),
    (("--dtype", "int8"), 1, "dtype='int8' is unknown; use one of: bfloat16"),
    (("--device", "t4", "--dtype", "bfloat16"), 1, "t4 has no peak for dtype=bfloat16; use one of: float16, float32"),
    (("--utilisation", "40"), 1, "utilisation=40.0 is not a share of the peak; use a number above 0, at most 1"),
    (("--utilisation", "0.4", "--mfu", "0.3"), 1, "utilisation=0.4 and mfu=0.3 say two things about the same"),
    (("--price", "0"), 1, "price=0.0 is not positive and finite; use a number above 0"),
]


@pytest.mark.many
@pytest.mark.parametrize(("arguments", "code", "line"), REFUSED, ids=[" ".join(words) for words, _, _ in REFUSED])
def test_what_cannot_be_planned_is_one_line(
    arguments: tuple[str, ...], code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("gpt2", "--tokens", "1B", "--device", "h100", *arguments)
    for lang in ("en", "ko"):
        left, out, err = run(capsys, *given, "--lang", lang)
        assert (left, out) == (code, "")
        assert err.count("\n") == 1
        assert err.startswith(line) if lang == "en" else HANGUL.search(err)


def test_tokens_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "gpt2", "--lang", "en") == (2, "", "TOKENS is missing; see glassformer plan --help\n")
