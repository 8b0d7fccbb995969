"""generation_config.json is the default of `translate` and `generate`; what a person says counts more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from foreign_models import bart, gpt2, llama, marian, t5
from foreign_texts import ENGLISH
from glassformer.errors import FileError, GlassformerWarning
from glassformer.hub.generation import GenerationDefaults, read_generation
from glassformer.hub.store import store

TEXTS = ENGLISH[:25]
MAKERS = {"marian": marian, "bart": bart, "t5": t5}
TOLD: dict[str, dict[str, Any]] = {
    "beams": {"num_beams": 3, "length_penalty": 0.8, "early_stopping": True, "max_length": 15},
    "at least": {"num_beams": 2, "min_length": 9, "max_new_tokens": 16, "early_stopping": False},
    "at least so many new ones": {"num_beams": 1, "min_new_tokens": 7, "max_length": 12},
    "never early": {"num_beams": 4, "length_penalty": 2.0, "early_stopping": "never", "max_new_tokens": 9},
    "suppressed": {"num_beams": 2, "suppress_tokens": [5, 6, 7, 8], "bad_words_ids": [[9], [10]], "max_length": 14},
}


def told(folder: Path, model: Any, **keys: Any) -> None:
    for key, value in keys.items():
        setattr(model.generation_config, key, value)
    model.generation_config.save_pretrained(folder)


@pytest.mark.many
@pytest.mark.parametrize("case", TOLD)
@pytest.mark.parametrize("name", MAKERS)
def test_translations_are_those_of_transformers_with_its_own_settings(name: str, case: str, tmp_path: Path) -> None:
    model, tokenizer = MAKERS[name](tmp_path / "hf")
    told(tmp_path / "hf", model, **TOLD[case])
    given = tokenizer(TEXTS, padding=True, return_tensors="pt")
    inputs = {"input_ids": given.input_ids, "attention_mask": given.attention_mask}
    ids = model.double().generate(**inputs)
    expected = tokenizer.batch_decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    store(tmp_path / "hf", tmp_path / "run")
    for folder in (tmp_path / "hf", tmp_path / "run"):
        found = gf.translate(gf.load(folder, dtype="float64"), TEXTS)
        assert [text.replace("<unk>", "").strip() for text in found] == [text.strip() for text in expected]


@pytest.mark.slow
@pytest.mark.parametrize("make", [gpt2, llama])
def test_continuations_are_those_of_transformers_with_its_own_settings(make: Any, tmp_path: Path) -> None:
    model, tokenizer = make(tmp_path)
    for case in (
        {"max_new_tokens": 9},
        {"max_length": 14},
        {"num_beams": 3, "length_penalty": 0.5, "early_stopping": True, "max_new_tokens": 8},
        {"max_new_tokens": 9, "suppress_tokens": [30, 31, 32]},
    ):
        model.generation_config = type(model.generation_config)(
            eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.eos_token_id
        )
        told(tmp_path, model, **case)
        loaded = gf.load(tmp_path, dtype="float64")
        for text in ("I go", "나는 학교에 간다."):
            given = tokenizer([text], return_tensors="pt")
            (ids,) = model.double().generate(input_ids=given.input_ids, attention_mask=given.attention_mask).tolist()
            before = loaded.tokenizer.decode(given.input_ids[0].tolist())
            assert gf.generate(loaded, text).text == loaded.tokenizer.decode(ids)[len(before) :]


@pytest.mark.slow
def test_what_a_person_says_counts_more(tmp_path: Path) -> None:
    model, _ = marian(tmp_path)
    plain = gf.translate(tmp_path, TEXTS, beam=2, length_penalty=0.6, length_norm="gnmt", stop="bound")
    told(tmp_path, model, num_beams=5, length_penalty=3.0, early_stopping=True)
    assert gf.translate(tmp_path, TEXTS, beam=2, length_penalty=0.6, length_norm="gnmt", stop="bound") == plain
    model, _ = gpt2(tmp_path / "gpt2")
    greedy = gf.generate(tmp_path / "gpt2", "I go", tokens=5)
    told(tmp_path / "gpt2", model, do_sample=True, temperature=5.0, max_new_tokens=9)
    assert gf.generate(tmp_path / "gpt2", "I go", tokens=5, temperature=0).text == greedy.text
    drawn = {gf.generate(tmp_path / "gpt2", "I go", tokens=5, seed=seed).text for seed in range(6)}
    assert len(drawn) > 1
    assert gf.generate(tmp_path / "gpt2", "I go", seed=1).tokens <= 9
    assert gf.generate(tmp_path / "gpt2", "I go", top_k=1, seed=3, tokens=5).text == greedy.text
    assert gf.generate(tmp_path / "gpt2", "I go", beam=2, tokens=5).tokens <= 5


@pytest.mark.many
@pytest.mark.parametrize(
    "told_keys",
    [{"no_repeat_ngram_size": 3}, {"repetition_penalty": 1.3}, {"bad_words_ids": [[4, 5]]}, {"num_beam_groups": 2}],
)
def test_what_is_not_done_here_is_said(told_keys: dict[str, Any], tmp_path: Path) -> None:
    marian(tmp_path)
    (tmp_path / "generation_config.json").write_text(json.dumps({"num_beams": 2, **told_keys}))
    with pytest.warns(
        GlassformerWarning, match=rf"generation_config\.json asks for {next(iter(told_keys))}=.*not done"
    ):
        gf.translate(tmp_path, "I go")


def test_beams_that_draw_are_said_to_be_beams(tmp_path: Path) -> None:
    gpt2(tmp_path)
    (tmp_path / "generation_config.json").write_text(json.dumps({"num_beams": 2, "do_sample": True}))
    with pytest.warns(GlassformerWarning, match=r"asks for do_sample=True"):
        gf.generate(tmp_path, "I go", tokens=3)


def test_older_folders_say_it_in_config_json(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"num_beams": 4, "min_length": 3, "length_penalty": 2.0}))
    assert read_generation(tmp_path) == GenerationDefaults(beam=4, min_length=3, length_penalty=2.0)
    (tmp_path / "generation_config.json").write_text(json.dumps({"num_beams": 2}))
    assert read_generation(tmp_path) == GenerationDefaults(beam=2)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"num_beams": "four"}, "num_beams is 'four'"),
        ({"early_stopping": 3}, "early_stopping is 3"),
        ({"suppress_tokens": [1.5]}, "suppress_tokens is"),
        ({"temperature": "hot"}, "temperature is 'hot'"),
    ],
)
def test_what_it_should_not_be_is_named(keys: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text(json.dumps(keys))
    with pytest.raises(FileError, match=message):
        read_generation(tmp_path)
