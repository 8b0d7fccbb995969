from __future__ import annotations

import json
import re
from typing import Any

import pytest
import torch

from glassformer.cli.app import main
from glassformer.models.presets import PRESETS
from glassformer.open import open_config
from glassformer.trace.sentence import follow

HANGUL = re.compile(r"[가-힣]")
SENTENCE = "나는 학교에 간다"


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(("trace", *arguments))
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def traced(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    document: dict[str, Any] = json.loads(out)
    return document


def refused(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], line: str, expected: int = 1) -> None:
    for lang in ("en", "ko"):
        code, out, err = run(capsys, *arguments, "--lang", lang)
        assert (code, out) == (expected, "")
        assert err.count("\n") == 1
        assert "something went wrong" not in err
        if lang == "en":
            assert err == f"{line}\n"
        else:
            assert HANGUL.search(err)


# --- three words of 512 numbers through eight heads of 64 ---


def test_the_shapes_of_the_worked_example(capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, "paper-base", SENTENCE, "--layers", "1")
    shapes = {step["name"]: step["shape"] for step in document["steps"]}
    assert document["tokens"] == ["나는", "학교에", "간다"]
    assert shapes["embedding.output"] == [1, 3, 512]
    attention = "encoder.blocks.0.self_attention"
    for name in ("q", "k", "v", "heads"):
        assert shapes[f"{attention}.{name}"] == [1, 8, 3, 64]
    assert shapes[f"{attention}.scores"] == shapes[f"{attention}.weights"] == [1, 8, 3, 3]
    assert shapes[f"{attention}.output"] == shapes["encoder.output"] == [1, 3, 512]


def test_the_weights_of_a_row_sum_to_one(capsys: pytest.CaptureFixture[str]) -> None:
    attention = traced(capsys, "small-encoder", SENTENCE, "--layer", "2", "--head", "3")["attention"]
    assert (attention["layer"], attention["head"]) == (2, 3)
    assert torch.tensor(attention["weights"]).shape == (3, 3)
    torch.testing.assert_close(torch.tensor(attention["weights"]).sum(-1), torch.ones(3))


def test_the_numbers_are_those_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, "mini-classifier", SENTENCE, "--seed", "7")
    story = follow("mini-classifier", open_config("mini-classifier"), SENTENCE, seed=7)
    assert document == story.to_json()
    assert document != traced(capsys, "mini-classifier", SENTENCE, "--seed", "8")


def test_the_table_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    code, english, err = run(capsys, "mini-classifier", SENTENCE, "--lang", "en")
    assert (code, err) == (0, "")
    code, korean, err = run(capsys, "mini-classifier", SENTENCE, "--lang", "ko")
    assert (code, err) == (0, "")
    assert f"mini-classifier: {SENTENCE}" in english
    assert "│ encoder.blocks.0.self_attention.scores  │ 1×4×3×3 │" in english
    assert "layer 0, head 0" in english
    assert english.rstrip().endswith("The model is untrained (seed 0): the path is real, the numbers are noise.")
    for title in ("단계", "형태", "앞부분 값"):
        assert title in korean
    assert "층 0, 헤드 0" in korean
    assert "학습하지 않은 모델입니다(시드 0)." in korean
    assert re.findall(r"[+-]\d\.\d{4}", english) == re.findall(r"[+-]\d\.\d{4}", korean)


def test_only_the_layer_that_was_asked_for_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "mini-classifier", SENTENCE, "--layer", "3")
    assert set(re.findall(r"blocks\.(\d)", out)) == {"3"}
    assert "embedding.output" in out


def test_brackets_and_colons_in_a_text_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "mini-classifier", "[red]a[/red] [/b] :smile:", "--layers", "1")
    assert (code, err) == (0, "")
    for token in ("[red]a[/red]", "[/b]", ":smile:"):
        assert f" {token} " in out


def test_decomposed_hangul_is_composed(capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, "mini-classifier", "\u1112\u1161\u11ab 한", "--layers", "1")
    assert document["tokens"] == ["한", "한"]


def test_the_longest_text_still_fits(capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, "mini-classifier", "w " * 400, "--layers", "1")
    assert len(document["tokens"]) == 400


def test_numbers_that_are_not_finite_are_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, "mini-classifier", SENTENCE, "--set", "attention_scale=1e308", "--layers", "1")
    scores = next(step for step in document["steps"] if step["name"].endswith("scores"))
    assert None in scores["values"]


@pytest.mark.parametrize("name", [name for name in PRESETS if name.startswith("small-")])
def test_every_small_model_can_be_followed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(traced(capsys, name, SENTENCE)["steps"]) > 30


# --- what cannot be followed ---


@pytest.mark.parametrize("text", ["", "   ", "\t\n", "\u3000\u00a0"])
def test_an_empty_text(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, ("mini-classifier", text), "the text is empty: there is no token in it; give at least one")


def test_a_text_longer_than_the_table_of_positions(capsys: pytest.CaptureFixture[str]) -> None:
    line = "the text has 401 positions, and max_len=400; shorten it, or set a larger max_len"
    refused(capsys, ("mini-classifier", "w " * 401), line)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("mini-classifier", "a b c d", "--set", "vocab_size=3"),
            "token 3 is not in the vocabulary, whose ids are 0 to 2; was the text encoded for another model?",
        ),
        (
            ("mini-classifier", "a", "--layer", "5"),
            "there is no attention of layer 5, head 0; layers are 0 to 4, heads 0 to 3",
        ),
        (
            ("mini-classifier", "a", "--head", "-1"),
            "there is no attention of layer 0, head -1; layers are 0 to 4, heads 0 to 3",
        ),
        (
            ("lesson-encoder", "a"),
            "lesson-encoder takes vectors, not text; use a model on tokens, such as paper-base",
        ),
        (("vit-b16", "a"), "vit-b16 takes image, not text; use a model on tokens, such as paper-base"),
        (
            ("mini-classifier", "a", "--layers", "0"),
            "n_encoder_layers=0, but family=encoder has that side; use at least 1",
        ),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_followed_is_one_line(
    arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(capsys, arguments, line)


def test_a_model_larger_than_the_machine_is_not_begun(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "llama3-405b", SENTENCE)
    assert (code, out) == (1, "")
    assert re.fullmatch(
        r'the model needs 1,511\.9 GiB, and [\d.,]+ GiB are free; count it instead, or build it with device="meta"\n',
        err,
    )


@pytest.mark.parametrize("seed", ["-1", "9223372036854775808", "9" * 99])
def test_a_seed_that_is_none(seed: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "mini-classifier", "a", "--seed", seed)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"--seed=.* is out of range; use 0 to 9223372036854775807\n", err)
