from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import glassformer as gf
from foreign_models import bert_classifier, beside, roberta_classifier
from foreign_texts import roberta
from glassformer.cli.app import main
from glassformer.errors import GlassformerError, InputError
from glassformer.loading import Loaded
from glassformer.tasks.text_inputs import every_text, every_text_or_pair, input_batches, pair_ids, text_ids
from small_models import small

PAIRS = [("I go home!", "나는 학교에 간다."), ("you will go", "he"), ("the student walked home!", "I go")]


def roberta_lists(folder: Path) -> tuple[Any, Any]:
    """vocab.json and merges.txt: only the class says how two texts are joined."""
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    return beside(roberta(folder), "RobertaForSequenceClassification", **sizes, num_labels=2)


MAKERS = {"bert": bert_classifier, "roberta": roberta_classifier, "roberta, two lists": roberta_lists}


@pytest.mark.parametrize("name", MAKERS)
def test_a_pair_is_read_as_transformers_reads_it(name: str, tmp_path: Path) -> None:
    model, tokenizer = MAKERS[name](tmp_path)
    loaded = gf.load(tmp_path)
    for first, second in PAIRS:
        given = tokenizer(first, second)
        found = pair_ids(loaded, first, second)
        assert found.tokens == given["input_ids"]
        assert found.segments == given.get("token_type_ids")
    firsts, seconds = map(list, zip(*PAIRS, strict=True))
    given = tokenizer(firsts, seconds, padding=True, return_tensors="pt")
    with torch.no_grad():
        expected = model(**given).logits.softmax(1)
    answers = gf.classify(loaded, PAIRS)
    for one, row in zip(answers, expected.tolist(), strict=True):
        assert [one.probabilities[label] for label in loaded.labels] == pytest.approx(row, abs=1e-5)
    assert gf.classify(loaded, PAIRS[1]).label == answers[1].label
    assert answers[1].input == "you will go ||| he"


def test_pairs_and_single_texts_stand_side_by_side(tmp_path: Path) -> None:
    bert_classifier(tmp_path)
    loaded = gf.load(tmp_path)
    mixed = gf.classify(loaded, ["I go", PAIRS[0], "you"])
    alone = [gf.classify(loaded, one) for one in ("I go", PAIRS[0], "you")]
    for one, other in zip(mixed, alone, strict=True):
        assert list(one.probabilities.values()) == pytest.approx(list(other.probabilities.values()), abs=1e-6)


def test_pairs_at_the_prompt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bert_classifier(tmp_path)
    assert run("classify", tmp_path, "--pair", *PAIRS[0], *PAIRS[1], "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["label"] for one in told] == [one.label for one in gf.classify(tmp_path, PAIRS[:2])]
    assert run("classify", tmp_path, "--pair", "alone", "--lang", "en") == 1
    assert "--pair takes texts two by two" in capsys.readouterr().err


def test_too_long_is_refused_or_cut_as_transformers_cuts(tmp_path: Path) -> None:
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    folder = tmp_path / "hf"
    bert_classifier(folder)
    model, tokenizer = beside(
        folder, "BertForSequenceClassification", **sizes, num_labels=2, max_position_embeddings=12
    )
    loaded, text = gf.load(folder), "the student walked home and the teacher walked home!"
    with pytest.raises(InputError, match=r"the text has \d+ positions, and at most 12 are read.*--truncate"):
        gf.classify(loaded, text)
    assert text_ids(loaded, text, truncate=True).tokens == tokenizer(text, truncation=True, max_length=12)["input_ids"]
    assert len(text_ids(loaded, "I go", truncate=True).tokens) < 12
    for pair in ((text, "I go"), ("I go", text), (text, text)):
        with pytest.raises(InputError, match="at most 12 are read"):
            gf.classify(loaded, pair)
        given = tokenizer(*pair, truncation="longest_first", max_length=12)
        found = pair_ids(loaded, *pair, truncate=True)
        assert (found.tokens, found.segments) == (given["input_ids"], given["token_type_ids"])
    with torch.no_grad():
        expected = model(**tokenizer(text, truncation=True, max_length=12, return_tensors="pt")).logits.softmax(1)
    answer = gf.classify(loaded, text, truncate=True)
    assert [answer.probabilities[label] for label in loaded.labels] == pytest.approx(expected[0].tolist(), abs=1e-5)


@pytest.mark.parametrize("wrong", [5, None, {"a": 1}, b"text", [5], ["a", None], [["a", "b"]], 3.5])
def test_what_is_no_text_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"is neither a text nor a|is not a text"):
        every_text(wrong)
    with pytest.raises(InputError, match="is neither a text nor a"):
        every_text_or_pair(wrong)


@pytest.mark.parametrize("pair", [("a", 5), ("a", "b", "c"), [("a",)], [("a", "b", "c")]])
def test_what_is_no_pair_is_refused(pair: Any) -> None:
    if pair == ("a", "b", "c"):
        assert every_text_or_pair(pair) == ["a", "b", "c"]
        return
    with pytest.raises(InputError, match="is neither a text nor a pair"):
        every_text_or_pair(pair)


@pytest.mark.parametrize("wrong", [5, None, [5], {"a": "b"}, b"I go"])
def test_no_verb_answers_with_a_raw_error(wrong: Any, tmp_path: Path) -> None:
    bert_classifier(tmp_path)
    loaded = gf.load(tmp_path)
    for verb in (gf.classify, gf.embed):
        with pytest.raises(GlassformerError):
            verb(loaded, wrong)


def run(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return int(stop.value.code or 0)


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return small("classification")


def test_texts_of_like_length_stand_together(loaded: Loaded) -> None:
    found = list(input_batches(loaded, [[9, 8, 7, 6], [5], [4, 3], [2, 1]], at_once=2))
    assert [some.places for some in found] == [[1, 2], [3, 0]]
    assert found[0].tokens.tolist() == [[5, 0], [4, 3]]
    assert found[0].mask is not None and found[0].mask.tolist() == [[True, False], [True, True]]


def test_without_padding_there_is_no_mask(loaded: Loaded) -> None:
    (found,) = input_batches(loaded, [[4, 3], [2, 1]])
    assert found.mask is None


def test_no_texts_no_rows(loaded: Loaded) -> None:
    assert list(input_batches(loaded, [])) == []


def test_a_text_without_tokens_is_refused(loaded: Loaded) -> None:
    with pytest.raises(InputError, match="the text is empty: there is no token in it; give at least one"):
        list(input_batches(loaded, [[1], []]))
