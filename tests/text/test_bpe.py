from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from glassformer.errors import ConfigError, FileError
from glassformer.text import Bpe, open_tokenizer
from glassformer.text.normalise import normalise
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


def test_gpt2_gives_the_published_ids(gpt2: Bpe) -> None:
    assert gpt2.vocab_size == 50257
    assert (gpt2.specials.bos, gpt2.specials.eos, gpt2.specials.pad) == (50256, 50256, None)
    assert gpt2.encode("Hello world") == [15496, 995]
    assert gpt2.encode("Hello, my dog is cute") == [15496, 11, 616, 3290, 318, 13779]
    assert gpt2.encode("tiktoken is great!") == [83, 1134, 30001, 318, 1049, 0]
    assert 50256 not in gpt2.encode("<|endoftext|>")
    assert gpt2.decode([15496, 50256]) == "Hello"


@settings(max_examples=50, deadline=None)
@given(text=nasty_text())
def test_gpt2_is_exact(gpt2: Bpe, text: str) -> None:
    assert gpt2.exact
    assert gpt2.decode(gpt2.encode(text)) == normalise(text)


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
        ({"a": 0}, "#version: 0.2\na", "line 2 is no merge"),
        ({"a": 0}, "a b c", "line 1 is no merge"),
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
