from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, processors
from transformers import AutoTokenizer

from foreign_texts import LAYOUTS, bert, llama, llama_3, roberta, written
from glassformer.errors import FileError
from glassformer.text import framing, open_tokenizer, pair
from texts import trained


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_roles_give_the_frame_of_transformers(layout: str, tmp_path: Path) -> None:
    make, expected = LAYOUTS[layout]
    folder = make(tmp_path)
    assert framing(folder) == expected
    tokenizer = open_tokenizer(folder)
    begin, end = ([] if role == "none" else [tokenizer.specials.need(role)] for role in expected)
    for text in ("I go", "나는", ""):
        assert [*begin, *tokenizer.encode(text), *end] == AutoTokenizer.from_pretrained(folder).encode(text)


@pytest.mark.parametrize(
    ("said", "roles"),
    [
        ({"add_bos_token": True, "add_eos_token": True}, ("bos", "eos")),
        ({"add_bos_token": False, "add_eos_token": True}, ("none", "eos")),
        ({"add_bos_token": False, "add_eos_token": None}, ("none", "none")),
        ({"add_bos_token": None, "add_eos_token": None}, None),
    ],
)
def test_what_the_configuration_says_comes_first(
    said: dict[str, bool | None], roles: tuple[str, str] | None, tmp_path: Path
) -> None:
    assert framing(llama(tmp_path, **said)) == roles
    told = {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>", **said}
    written(llama_3(tmp_path / "json"), {"tokenizer_config.json": told})
    assert framing(tmp_path / "json") == (roles or ("bos", "none"))


def test_a_role_without_its_token_is_none(tmp_path: Path) -> None:
    written(bert(tmp_path), {"tokenizer_config.json": {"add_bos_token": True, "add_eos_token": False}})
    assert framing(tmp_path) == ("none", "none")


def test_nobody_says(tmp_path: Path) -> None:
    trained("bpe").save(tmp_path / "own")
    assert framing(tmp_path / "own") is None
    folder = roberta(tmp_path / "lists")
    (folder / "tokenizer_config.json").unlink()
    (folder / "config.json").unlink()
    assert framing(folder) is None


def test_a_frame_of_other_tokens_is_refused(tmp_path: Path) -> None:
    folder = llama_3(tmp_path)
    library = Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.post_processor = processors.TemplateProcessing(
        single="<|begin_of_text|> <|eot_id|> $A", special_tokens=[("<|begin_of_text|>", 420), ("<|eot_id|>", 422)]
    )
    library.save(str(folder / "tokenizer.json"))
    with pytest.raises(FileError, match=r"tokenizer\.json puts 2 special tokens \[420, 422\] around a text"):
        framing(folder)


def test_a_frame_that_leaves_the_text_out_is_refused(tmp_path: Path) -> None:
    folder = llama_3(tmp_path)
    table = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    name = "<|begin_of_text|>"
    begin = {"SpecialToken": {"id": name, "type_id": 0}}
    table["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [begin],
        "pair": [begin],
        "special_tokens": {name: {"id": name, "ids": [420], "tokens": [name]}},
    }
    (folder / "tokenizer.json").write_text(json.dumps(table), "utf-8")
    with pytest.raises(FileError, match=r"tokenizer\.json has a post-processor that leaves the text out"):
        framing(folder)


def test_a_pair_has_two_segments_as_in_bert(tmp_path: Path) -> None:
    folder = bert(tmp_path)
    tokenizer = open_tokenizer(folder)
    first, second = tokenizer.encode("I go"), tokenizer.encode("나는 학교에")
    expected = AutoTokenizer.from_pretrained(folder)("I go", "나는 학교에")
    ids, segments = pair(first, second, [tokenizer.specials.need("cls")], [tokenizer.specials.need("sep")])
    assert (ids, segments) == (expected["input_ids"], expected["token_type_ids"])


def test_a_pair_of_roberta_has_two_ends_between(tmp_path: Path) -> None:
    folder = roberta(tmp_path)
    tokenizer = open_tokenizer(folder)
    ids, _ = pair(tokenizer.encode("I go"), tokenizer.encode("나는"), [0], [2], between=[2])
    assert ids == AutoTokenizer.from_pretrained(folder)("I go", "나는")["input_ids"]
