from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from transformers import AutoTokenizer

from foreign_texts import UGLY, bart, llama_json, qwen, random_texts, written
from foreign_texts import gpt2 as two_lists
from glassformer.errors import ConfigError, FileError
from glassformer.text import Bpe, open_tokenizer
from glassformer.text.normalisation import normalise
from texts import CORPUS, data_file, nasty_text, trained


def test_a_merge_worked_by_hand() -> None:
    tokenizer = Bpe.train(["ab ab abc"] * 2, 264)
    assert tokenizer.pieces("abcab") == ["ab", "c", "ab"]
    assert tokenizer.encode("ab") == [263]


def test_only_pairs_seen_often_enough_are_merged() -> None:
    with pytest.raises(ConfigError, match="use 264 or less"):
        Bpe.train(["ab", "ab", "cd"], 265, min_frequency=2)
    assert Bpe.train(["ab", "ab", "cd"], 265, min_frequency=1).vocab_size == 265
    with pytest.raises(ConfigError, match="min_frequency=0 is out of range"):
        Bpe.train(CORPUS, 300, min_frequency=0)


def test_a_piece_that_cuts_a_syllable_shows_its_bytes_and_the_span_of_the_syllable() -> None:
    tokenizer = trained("bpe")
    assert tokenizer.pieces("a뷁") == ["a", "<EB>", "<B7>", "<81>"]
    assert tokenizer.spans("a뷁") == [(0, 1), (1, 2), (1, 2), (1, 2)]


@pytest.fixture(scope="module", params=[("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt")])
def gpt2(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bpe:
    folder = tmp_path_factory.mktemp("gpt2")
    for name, source in zip(request.param, ("encoder.json.gz", "vocab.bpe.gz"), strict=True):
        (folder / name).write_bytes(gzip.decompress(data_file(f"vocab-gpt2/{source}").read_bytes()))
    opened = open_tokenizer(folder)
    assert isinstance(opened, Bpe)
    return opened


@pytest.mark.slow
def test_gpt2_gives_the_published_ids(gpt2: Bpe) -> None:
    assert gpt2.vocab_size == 50257
    assert (gpt2.specials.bos, gpt2.specials.eos, gpt2.specials.pad) == (50256, 50256, None)
    assert gpt2.encode("Hello world") == [15496, 995]
    assert gpt2.encode("Hello, my dog is cute") == [15496, 11, 616, 3290, 318, 13779]
    assert gpt2.encode("tiktoken is great!") == [83, 1134, 30001, 318, 1049, 0]
    assert 50256 not in gpt2.encode("<|endoftext|>")
    assert gpt2.decode([15496, 50256]) == "Hello"


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(text=nasty_text())
def test_gpt2_is_exact(gpt2: Bpe, text: str) -> None:
    assert gpt2.exact
    assert gpt2.decode(gpt2.encode(text)) == normalise(text)


PAD = {"pad_token": "<pad>"}


def two_files(folder: Path, vocabulary: object, merges: str) -> Path:
    (folder / "vocab.json").write_text(vocabulary if isinstance(vocabulary, str) else json.dumps(vocabulary))
    (folder / "merges.txt").write_text(merges)
    return folder


@pytest.mark.parametrize(
    ("vocabulary", "merges", "why"),
    [
        ("{", "", "cannot be read as a tokenizer: Expecting property name"),
        ({"a": "one"}, "", "vocab.json gives the piece 'a' the id 'one', and ids are whole numbers"),
        ({"a": -1}, "", "vocab.json gives the piece 'a' the id -1"),
        ({"a": 0, "b": 1}, "a b", "merges 'a' and 'b' to what is not in the vocabulary"),
        ({"a": 0, "ab": 1}, "a b", "cannot be read as a tokenizer: .*out of vocabulary"),
        ({"a": 0}, "#version: 0.2\na", "line 2 is not a merge"),
        ({"a": 0}, "a b c", "line 1 is not a merge"),
        ({"a": 0, "한": 1}, "", "the piece '한' is not in its alphabet"),
        ({"a": 4_000_000_000}, "", "gives the piece 'a' the id 4000000000"),
        ({}, "", "numbers its pieces up to -1"),
    ],
)
def test_damaged_files_are_refused_in_one_line(vocabulary: object, merges: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=why) as refused:
        open_tokenizer(two_files(tmp_path, vocabulary, merges))
    assert "\n" not in str(refused.value)


def test_a_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"tokenizer\.json cannot be read: No such file"):
        Bpe.open(tmp_path)


def test_gpt2_gives_the_ids_of_transformers(gpt2: Bpe, tmp_path: Path) -> None:
    gpt2.save(tmp_path)
    for old, new in (("encoder.json", "vocab.json"), ("vocab.bpe", "merges.txt")):
        if (tmp_path / old).exists():
            (tmp_path / old).rename(tmp_path / new)
    written(tmp_path, {"tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer"}})
    reference = AutoTokenizer.from_pretrained(tmp_path)
    for text in (*UGLY, *random_texts(300)):
        assert gpt2.encode(text) == reference.encode(text)


def test_a_token_that_is_end_and_unknown_is_left_out_of_the_text(tmp_path: Path) -> None:
    named = {f"{role}_token": "<|endoftext|>" for role in ("bos", "eos", "unk")}
    tokenizer = open_tokenizer(two_lists(tmp_path, **named))
    assert tokenizer.specials.unk == tokenizer.specials.eos == 0
    assert tokenizer.decode([*tokenizer.encode("I go"), 0]) == "I go"


def test_a_blank_before_every_text(tmp_path: Path) -> None:
    tokenizer = open_tokenizer(bart(tmp_path))
    assert tokenizer.encode("I go") == tokenizer.encode(" I go")
    assert not tokenizer.exact
    specials = tokenizer.specials
    assert (specials.bos, specials.pad, specials.eos, specials.unk, specials.mask) == (0, 1, 2, 3, 4)


def test_the_lists_of_qwen_cut_digits_apart(tmp_path: Path) -> None:
    tokenizer = open_tokenizer(qwen(tmp_path))
    assert tokenizer.pieces("2024") == ["2", "0", "2", "4"]
    assert (tokenizer.specials.eos, tokenizer.specials.pad, tokenizer.vocab_size) == (422, 420, 423)
    assert tokenizer.exact


def test_an_added_token_must_follow_the_list(tmp_path: Path) -> None:
    folder = two_lists(tmp_path)
    written(folder, {"added_tokens.json": {"<pad>": 420, "school": 421}, "special_tokens_map.json": PAD})
    tokenizer, reference = open_tokenizer(folder), AutoTokenizer.from_pretrained(folder)
    assert (tokenizer.vocab_size, tokenizer.specials.pad, len(reference)) == (422, 420, 422)
    assert tokenizer.encode("to school") == reference.encode("to school") == [*tokenizer.encode("to "), 421]
    written(folder, {"added_tokens.json": {"<pad>": 500}})
    with pytest.raises(FileError, match="adds the token '<pad>' with the id 500, which is not the next free one"):
        open_tokenizer(folder)


def test_older_files_of_llama(tmp_path: Path) -> None:
    """They add a blank to every text; `transformers` makes them anew, and adds none to a text that has one."""
    folder = llama_json(tmp_path)
    tokenizer, reference = open_tokenizer(folder), AutoTokenizer.from_pretrained(folder)
    for text in (" I go", "I go", " ", "\nI", "▁a"):
        assert tokenizer.encode(text) == reference.encode(text, add_special_tokens=False)
    file = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert file.encode(" I go", add_special_tokens=False).ids == tokenizer.encode("  I go")
    written(folder, {"tokenizer_config.json": {"bos_token": "<s>"}, "config.json": {}})
    assert open_tokenizer(folder).encode(" I go") == tokenizer.encode("  I go")


def test_a_vocabulary_that_is_as_large_as_the_texts_allow() -> None:
    few = ["a bee sees a bee", "a bee sees the sea"]
    with pytest.raises(ConfigError, match="vocab_size=4000 is more than the tokenizer 'bpe' can learn"):
        Bpe.train(few, 4000)
    small = Bpe.train(few, 4000, at_most=True)
    assert small.vocab_size < 300 and small.decode(small.encode("a bee!")) == "a bee!"
    with pytest.raises(ConfigError, match=r"tokenizer\.at_most='yes'"):
        Bpe.train(few, 4000, at_most="yes")  # type: ignore[arg-type]
