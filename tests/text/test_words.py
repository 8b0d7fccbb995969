from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings

from glassformer.errors import ConfigError, InputError
from glassformer.text import Words
from texts import CORPUS, nasty_text, trained


def test_words_at_white_space() -> None:
    tokenizer = Words.train(["나는 학교에 간다", "나는 간다", "나는"])
    assert tokenizer.encode(" 나는\n간다\u3000학교에 ") == [7, 8, 9]
    assert tokenizer.decode([1, 7, 8, 9, 2]) == "나는 간다 학교에"
    assert tokenizer.spans(" 나는\n간다") == [(1, 3), (4, 6)]


def test_it_says_that_it_loses_words() -> None:
    tokenizer = trained("words")
    assert not tokenizer.exact
    assert tokenizer.pieces("나는 바나나를 간다.") == ["나는", "<unk>", "간다."]
    assert tokenizer.decode(tokenizer.encode("나는 바나나를 간다.")) == "나는 <unk> 간다."


def test_a_word_that_looks_special_is_a_word() -> None:
    tokenizer = Words.train(["<eos> a▁b ##c"])
    assert min(tokenizer.encode("<eos> a▁b ##c")) > 6
    assert tokenizer.decode(tokenizer.encode("<eos> a▁b ##c")) == "<eos> a▁b ##c"


@settings(deadline=None)
@given(nasty_text())
def test_known_words_come_back_with_single_blanks(text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    if text.split() and not set("\x1c\x1d\x1e\x1f") & set(text):  # white space for Python, not for Unicode
        tokenizer = Words.train([text])
        assert tokenizer.decode(tokenizer.encode(text)) == " ".join(text.split())
        assert [text[first:last] for first, last in tokenizer.spans(text)] == text.split()


def test_rare_words_are_unknown() -> None:
    assert Words.train([*CORPUS, "드문"], min_frequency=2).encode("드문") == [3]


def test_white_space_alone_is_nothing_to_learn_from() -> None:
    with pytest.raises(InputError, match="there is no text to learn"):
        Words.train([" \n"])
    with pytest.raises(ConfigError, match="use 8 or more"):
        Words.train(["a b"], 7)
