from __future__ import annotations

import pytest

from glassformer.errors import ConfigError, InputError
from glassformer.text.corpus import LARGEST_VOCABULARY, Corpus, reached, wanted


def test_texts_are_composed_and_empty_ones_left_out() -> None:
    corpus = Corpus(iter(["", "\u1112\u1161\u11ab", "a"]))
    assert list(corpus) == ["한", "a"]
    corpus.check()


def test_a_long_text_passes_in_parts() -> None:
    text = "학교에 " * 500 + "가" * 1000
    parts = list(Corpus([text]))
    assert "".join(parts) == text
    assert max(map(len, parts)) == 400
    assert set(parts[0].split() + parts[1].split()) == {"학교에"}


@pytest.mark.parametrize("texts", [[], ["", ""]])
def test_no_text_is_nothing_to_learn_from(texts: list[str]) -> None:
    corpus = Corpus(texts)
    assert list(corpus) == []
    with pytest.raises(InputError, match="there is no text to learn a vocabulary from"):
        corpus.check()


@pytest.mark.parametrize("texts", ["one text", 3])
def test_one_text_is_no_list_of_texts(texts: object) -> None:
    with pytest.raises(InputError, match="is not a list of texts"):
        Corpus(texts)  # type: ignore[arg-type]


def test_sizes_that_cannot_be() -> None:
    with pytest.raises(ConfigError, match="vocab_size is missing, and the tokenizer 'bpe' needs it"):
        wanted("bpe", None, least=263)
    with pytest.raises(ConfigError, match=r"vocab_size=262 is too small for the tokenizer 'bpe': .* use 263 or more"):
        wanted("bpe", 262, least=263)
    with pytest.raises(ConfigError, match="out of range"):
        wanted("bpe", LARGEST_VOCABULARY + 1, least=263)
    with pytest.raises(ConfigError, match=r"vocab_size=9 is more than the tokenizer 'bpe' can learn .* use 8 or less"):
        reached("bpe", 9, 8)
    reached("bpe", 8, 8)
