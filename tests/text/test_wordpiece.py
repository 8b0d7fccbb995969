from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from foreign_texts import UGLY, random_texts, written
from foreign_texts import bert as small_bert
from glassformer.errors import ConfigError, FileError
from glassformer.text import WordPiece, open_tokenizer
from texts import data_file, trained


def test_the_longest_piece_first_and_a_mark_inside_of_words() -> None:
    tokenizer = WordPiece.train(["abab abc abab abc"] * 2, 523)
    assert tokenizer.pieces("abab abcab") == ["ab", "##ab", "▁abc", "##ab"]


def test_hashes_of_the_text_are_no_marks() -> None:
    tokenizer = trained("wordpiece")
    assert tokenizer.pieces("## #a") == ["#", "#", "▁", "#", "a"]
    assert tokenizer.decode(tokenizer.encode("a##b ###")) == "a##b ###"


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> WordPiece:
    folder = tmp_path_factory.mktemp("bert")
    content = gzip.decompress(data_file("vocab-bert-base-uncased/vocab.txt.gz").read_bytes())
    (folder / "vocab.txt").write_bytes(content)
    opened = open_tokenizer(folder)
    assert isinstance(opened, WordPiece)
    return opened


def test_bert_gives_the_published_ids(bert: WordPiece) -> None:
    assert bert.vocab_size == 30522
    specials = bert.specials
    assert (specials.pad, specials.unk, specials.cls, specials.sep, specials.mask) == (0, 100, 101, 102, 103)
    assert bert.encode("Hello world") == [7592, 2088]
    assert bert.encode("Hello, my dog is cute") == [7592, 1010, 2026, 3899, 2003, 10140]
    assert bert.pieces("Tokenization isn't hard") == ["token", "##ization", "isn", "'", "t", "hard"]
    assert bert.spans("Hello, wörld") == [(0, 5), (5, 6), (7, 12)]
    assert not {101, 102} & set(bert.encode("[CLS] [SEP]"))


@settings(max_examples=50, deadline=None)
@given(text=st.text(st.sampled_from("abcdefgh XYZ.,!?123\n\t"), max_size=30))
def test_bert_comes_back_up_to_white_space_and_case(bert: WordPiece, text: str) -> None:
    assert not bert.exact
    assert "".join(bert.decode(bert.encode(text)).split()) == "".join(text.lower().split())


def test_bert_saved_and_opened_is_the_same(bert: WordPiece, tmp_path: Path) -> None:
    bert.save(tmp_path)
    opened = open_tokenizer(tmp_path)
    text = "Tokenization ISN'T härd, 학교 [MASK]"
    assert (opened.encode(text), opened.spans(text)) == (bert.encode(text), bert.spans(text))
    assert (opened.specials, opened.exact, opened.kind) == (bert.specials, False, "wordpiece")


def test_case_is_kept_if_the_folder_says_so_or_the_list_has_capitals(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\r\n[UNK]\r\na\r\nA\r\n")
    assert open_tokenizer(tmp_path).encode("a A é") == [2, 3, 1]
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    assert open_tokenizer(tmp_path).encode("a A") == [2, 2]
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": "yes"}')
    with pytest.raises(ConfigError, match="do_lower_case='yes' is of the wrong type"):
        open_tokenizer(tmp_path)


def test_a_list_without_the_unknown_is_no_vocabulary_of_bert(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    with pytest.raises(FileError, match=r"vocab\.txt has no piece '\[UNK\]'"):
        open_tokenizer(tmp_path)


def test_bert_gives_the_ids_of_transformers(bert: WordPiece, tmp_path: Path) -> None:
    bert.save(tmp_path)
    written(tmp_path, {"tokenizer_config.json": {"tokenizer_class": "BertTokenizer"}})
    reference = AutoTokenizer.from_pretrained(tmp_path)
    for text in (*UGLY, *random_texts(300)):
        assert bert.encode(text) == reference.encode(text, add_special_tokens=False)


@pytest.mark.parametrize("lower", [True, False, None])
@pytest.mark.parametrize("accents", [True, False, None])
@pytest.mark.parametrize("chinese", [True, False])
def test_case_accents_and_chinese_as_the_folder_says(
    lower: bool | None, accents: bool | None, chinese: bool, tmp_path: Path
) -> None:
    """Where nothing is said about case, a list with capitals keeps them; `transformers` would not."""
    told = {"do_lower_case": lower, "strip_accents": accents, "tokenize_chinese_chars": chinese}
    folder = small_bert(tmp_path, **told)
    tokenizer = open_tokenizer(folder)
    if lower is None:
        written(folder, {"tokenizer_config.json": {**told, "do_lower_case": False, "tokenizer_class": "BertTokenizer"}})
    reference = AutoTokenizer.from_pretrained(folder)
    for text in ("Go to École", "go to été", "中中 I中go", "GO", "tü 학교"):
        assert tokenizer.encode(text) == reference.encode(text, add_special_tokens=False)


def test_the_unknown_by_another_name(tmp_path: Path) -> None:
    words = {"vocab.txt": "<pad>\n<unk>\ngo\n", "tokenizer_config.json": {"unk_token": "<unk>"}}
    tokenizer = open_tokenizer(written(tmp_path, words))
    assert (tokenizer.encode("go home"), tokenizer.specials.unk) == ([2, 1], 1)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff[UNK]\n"])
def test_what_is_no_list_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(content)
    with pytest.raises(FileError, match=r"vocab\.txt (has no piece|is not UTF-8)"):
        open_tokenizer(tmp_path)
