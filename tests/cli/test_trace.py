from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

import glassformer as gf
from glassformer.cli.app import main
from glassformer.loading import load, open_config
from glassformer.models.presets import PRESETS
from glassformer.trace.sentence import follow
from small_translator import trained
from typed import typed

HANGUL = re.compile(r"[가-힣]")
SENTENCE = "나는 학교에 간다"


run = typed("trace")


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


@pytest.mark.slow
def test_the_shapes_of_the_worked_example(capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, "paper-base", SENTENCE, "--layers", "1")
    assert document["tokens"] == ["나는", "학교에", "간다"]
    shapes = {step["step"]: step["shape"] for step in document["steps"]}
    assert shapes == {
        "embedding": "3×512",
        "input": "3×512",
        "q": "8×3×64",
        "k": "8×3×64",
        "v": "8×3×64",
        "scores": "8×3×3",
        "weights": "8×3×3",
        "heads": "8×3×64",
        "concat": "3×512",
        "after_self_attention": "3×512",
        "hidden": "3×2048",
        "network": "3×512",
        "output": "3×512",
        "memory": "3×512",
    }
    taps = {tap["name"]: tap["shape"] for tap in document["taps"]}
    assert taps["encoder.blocks.0.self_attention.q"] == [1, 8, 3, 64]


@pytest.mark.slow
def test_the_numbers_follow_from_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, "paper-base", SENTENCE, "--layer", "2", "--head", "3")
    step = {each["step"]: torch.tensor(each["numbers"]) for each in document["steps"]}
    torch.testing.assert_close(step["scores"], step["q"] @ step["k"].T / 8, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(step["weights"], step["scores"].softmax(-1))
    torch.testing.assert_close(step["heads"], step["weights"] @ step["v"], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(step["weights"].sum(-1), torch.ones(3))
    assert document["attention"] == step["weights"].tolist()


@pytest.mark.slow
def test_a_target_runs_the_whole_model_and_a_file_holds_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "pass.safetensors"
    given = ("small-translator", SENTENCE, "--target", "I go to school", "--save", str(path))
    code, out, err = run(capsys, *given)
    assert (code, err) == (0, "")
    assert f"Recorded in {path}" in out
    trace = gf.Trace.open(path)
    assert trace.tokens == ["나는", "학교에", "간다"]
    assert [tuple(x.shape) for x in trace.attention("cross_attention")] == [(1, 4, 4, 3)] * 3
    refused(capsys, (*given[:4], "--save", str(tmp_path / "none" / "x")), f"{tmp_path}/none/x cannot be written: "
            "No such file or directory; make room, or write somewhere else")  # fmt: skip


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
    assert "S = Q Kᵀ / √d_k" in english and "head 0: one row for each token that asks" in english
    assert "4×3×3" in english
    assert english.rstrip().endswith("The model is untrained (seed 0): the path is real, the numbers are noise.")
    for title in ("단계", "형태", "앞부분 값"):
        assert title in korean
    assert "S = Q Kᵀ / √d_k" in korean and "헤드 0: 묻는 토큰마다 한 행" in korean
    assert "학습하지 않은 모델입니다(시드 0)." in korean
    assert re.findall(r"[+−]\d\.\d{3}", english) == re.findall(r"[+−]\d\.\d{3}", korean)


def test_another_layer_tells_another_story(capsys: pytest.CaptureFixture[str]) -> None:
    first, third = (traced(capsys, "mini-classifier", SENTENCE, "--layer", layer)["steps"] for layer in ("0", "3"))
    assert first[0] == third[0]  # the embedding is the same
    assert third[1]["name"] == "encoder.blocks.2.output"
    numbers = [{step["step"]: step.get("numbers") for step in steps} for steps in (first, third)]
    assert all(numbers[0][key] != numbers[1][key] for key in ("input", "q", "weights", "output"))
    assert first[-1] == third[-1]  # and so is the answer


def test_brackets_and_colons_in_a_text_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "mini-classifier", "[red]a[/red] [/b] :smile:", "--layers", "1")
    assert (code, err) == (0, "")
    for token in ("[red]a[/red]", "[/b]", ":smile:"):
        assert f" {token} " in out


def test_decomposed_hangul_is_composed(capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, "mini-classifier", "\u1112\u1161\u11ab 한", "--layers", "1")
    assert document["tokens"] == ["한", "한"]


@pytest.mark.slow
def test_the_longest_text_still_fits(capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, "mini-classifier", "w " * 400, "--layers", "1")
    assert len(document["tokens"]) == 400


def test_numbers_that_are_not_finite_are_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, "mini-classifier", SENTENCE, "--set", "attention_scale=1e308", "--layers", "1")
    scores = next(step for step in document["steps"] if step["name"].endswith("scores"))
    assert None in scores["numbers"][0]


@pytest.mark.parametrize("name", [name for name in PRESETS if name.startswith("small-")])
def test_every_small_model_can_be_followed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = traced(capsys, name, SENTENCE)
    assert [step["step"] for step in document["steps"]][:2] == ["embedding", "input"]
    assert document["steps"][-1]["step"] == {"encoder": "classes", "decoder": "next"}.get(name[6:], "memory")
    assert len(document["taps"]) > 30


# --- what cannot be followed ---


@pytest.mark.parametrize("text", ["", "   ", "\t\n", "\u3000\u00a0"])
def test_an_empty_text(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, ("mini-classifier", text), "the text is empty: there is no token in it; give at least one")


def test_a_text_longer_than_the_table_of_positions(capsys: pytest.CaptureFixture[str]) -> None:
    line = "the text has 401 positions, and max_len=400; shorten it, or set a larger max_len"
    refused(capsys, ("mini-classifier", "w " * 401), line)


@pytest.mark.many
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
            ("mini-classifier", "a", "--target", "b"),
            "mini-classifier is a model of one stack (encoder): it reads one text; leave out the target",
        ),
        (
            ("lesson-encoder", "a"),
            "lesson-encoder takes 'vectors' as input, not text; use a model on tokens, such as paper-base",
        ),
        (("vit-b16", "a"), "vit-b16 takes 'image' as input, not text; use a model on tokens, such as paper-base"),
        (
            ("mini-classifier", "a", "--set", "n_encoder_layers=0"),
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
        r"the model needs 1,511\.9 GiB, and [\d.,]+ GiB are free; "
        r'count it instead, use fewer layers, or in Python build it with device="meta"\n',
        err,
    )
    code, out, err = run(capsys, "llama3-405b", SENTENCE, "--lang", "ko")
    assert (code, out) == (1, "")
    assert err.endswith('파라미터만 세거나 층을 줄이세요. 파이썬에서는 device="meta"로 만들어도 됩니다\n')


@pytest.mark.parametrize("seed", ["-1", "9223372036854775808", "9" * 99])
def test_a_seed_that_is_none(seed: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "mini-classifier", "a", "--seed", seed)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"--seed=.* is out of range; use 0 to 9223372036854775807\n", err)


def test_a_run_is_followed_with_its_own_weights_and_pieces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = trained(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(("trace", str(folder), "나는 학교에 간다", "--target", "I go to school", "--json"))
    assert stop.value.code == 0
    story = json.loads(capsys.readouterr().out)
    assert story["seed"] is None
    assert story["tokens"][-1] == "<eos>" and len(story["tokens"]) == 4
    weight = load(folder).model.state_dict()["embedding.weight"]
    ids = load(folder).vocabularies.source.encode("나는")
    expected = weight[ids[0]] * weight.shape[1] ** 0.5
    assert story["steps"][0]["numbers"][0] == pytest.approx(expected.tolist(), abs=1e-6)
    with pytest.raises(SystemExit) as stop:
        main(("trace", str(folder), "나는", "--layers", "1", "--lang", "en"))
    assert stop.value.code == 2
    assert "is trained: its sizes cannot be changed; leave out --layers and --set" in capsys.readouterr().err
