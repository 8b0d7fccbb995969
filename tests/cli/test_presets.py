from __future__ import annotations

import json
import re

import pytest

from glassformer.cli.app import main
from glassformer.config.model import ModelConfig
from glassformer.models.presets import PRESETS

NAMED = [
    "mini-classifier",
    "lesson-encoder",
    "paper-base",
    "paper-big",
    "bert-base",
    "bert-large",
    "gpt2",
    "gpt2-medium",
    "gpt2-large",
    "gpt2-xl",
    "gpt3-175b",
    "llama2-7b",
    "llama3-8b",
    "llama3-70b",
    "llama3-405b",
    "mistral-7b",
    "qwen3-0.6b",
    "t5-small",
    "t5-base",
    "bart-base",
    "marian-base",
    "vit-b16",
    "deit-tiny",
    "stock-patches",
    "patchtst-etth1",
    "shakespeare-char",
]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(("presets", *arguments))
    out, err = capsys.readouterr()
    assert (stop.value.code, err) == (0, "")
    return out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lang", "titles", "families"),
    [
        ("en", ["name", "family", "sizes", "parameters"], {"encoder", "decoder", "encoder-decoder"}),
        ("ko", ["이름", "계열", "크기", "파라미터"], {"인코더", "디코더", "인코더-디코더"}),
    ],
)
def test_every_model_has_a_line(
    lang: str, titles: list[str], families: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "--lang", lang)
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in out.splitlines() if line.startswith("│")]
    header = next(line for line in out.splitlines() if line.startswith("┃"))
    assert [cell.strip() for cell in header.strip("┃").split("┃")] == titles
    assert [row[0] for row in rows] == list(PRESETS)
    assert {row[1] for row in rows} == families
    assert out.rstrip().endswith("glassformer count paper-base")
    shown = {row[0]: row[2:] for row in rows}
    assert shown["paper-base"][0] == "6+6 × 512, 8 h, d_ff 2048"
    assert shown["mini-classifier"] == ["5 × 32, 4 h, d_ff 32", "1,009,057"]
    assert shown["llama3-405b"][1] == "405,853,388,800"


def test_the_models_that_were_promised_are_there() -> None:
    assert set(NAMED) <= set(PRESETS)


def test_the_json_can_be_built_from(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, "--json"))
    assert [each["name"] for each in document] == list(PRESETS)
    for each in document:
        assert ModelConfig.from_dict(each["config"]) == PRESETS[each["name"]]()
        assert set(each["total"]) == {"parameters", "trained", "buffers"}
        assert {type(number) for number in each["total"].values()} == {int}


@pytest.mark.slow
def test_no_line_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    for lang in ("en", "ko"):
        assert not re.search("…", run(capsys, "--lang", lang))
