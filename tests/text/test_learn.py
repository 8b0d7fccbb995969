from __future__ import annotations

import pytest
import sentencepiece as spm

from glassformer.errors import ConfigError, InputError
from glassformer.text.learn import LARGEST_VOCABULARY, TokenizerCorpus, _refused, learn, reached, wanted
from texts import CORPUS


def test_texts_are_composed_and_empty_ones_left_out() -> None:
    corpus = TokenizerCorpus(iter(["", "\u1112\u1161\u11ab", "a"]))
    assert list(corpus) == ["한", "a"]
    corpus.check()


def test_a_long_text_passes_in_parts() -> None:
    text = "학교에 " * 500 + "가" * 1000
    parts = list(TokenizerCorpus([text]))
    assert "".join(parts) == text
    assert max(map(len, parts)) == 400
    assert set(parts[0].split() + parts[1].split()) == {"학교에"}


@pytest.mark.parametrize("texts", [[], ["", ""]])
def test_no_text_is_nothing_to_learn_from(texts: list[str]) -> None:
    corpus = TokenizerCorpus(texts)
    assert list(corpus) == []
    with pytest.raises(InputError, match="there is no text to learn a vocabulary from"):
        corpus.check()


@pytest.mark.parametrize("texts", ["one text", 3])
def test_one_text_is_no_list_of_texts(texts: object) -> None:
    with pytest.raises(InputError, match="is not a list of texts"):
        TokenizerCorpus(texts)  # type: ignore[arg-type]


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


def pieces(model: bytes) -> list[str]:
    library = spm.SentencePieceProcessor()
    library.load_from_serialized_proto(model)
    return [library.id_to_piece(token) for token in range(library.get_piece_size())]


def test_special_tokens_then_bytes_then_pieces() -> None:
    found = pieces(learn("unigram", CORPUS, 380, "unigram"))
    assert found[:7] == ["<pad>", "<bos>", "<eos>", "<unk>", "<cls>", "<sep>", "<mask>"]
    assert found[7] == "<0x00>" and found[262] == "<0xFF>"
    assert len(found) == 380 and len(set(found)) == 380
    assert "▁학교에" in found


def test_long_texts_and_the_trainers_own_marks_are_not_skipped() -> None:
    marked = " ".join(CORPUS).replace("school", "school\t▅▁\0\n")
    assert "school" in "".join(pieces(learn("unigram", [marked], 380, "unigram")))


def test_a_thousand_equal_sentences_are_as_one() -> None:
    repeated = [sentence for sentence in CORPUS for _ in range(1000 if sentence == CORPUS[3] else 1)]
    assert learn("unigram", repeated, 380, "unigram") == learn("unigram", CORPUS, 380, "unigram")


def test_rare_characters_may_be_left_to_their_bytes() -> None:
    found = pieces(learn("unigram", [*CORPUS, "힣"], 340, "bpe", 0.99))
    assert "힣" not in found and "는" in found


def test_only_marks_are_nothing_to_learn_from() -> None:
    with pytest.raises(InputError, match="there is no text to learn a vocabulary from"):
        learn("unigram", ["\n\t▁"], 380, "unigram")


def test_a_coverage_that_is_no_share_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"character_coverage=1\.5 is not a rate"):
        learn("unigram", CORPUS, 380, "unigram", 1.5)
    with pytest.raises(ConfigError, match=r"character_coverage=0\.9 is out of range; use 0\.98 to 1"):
        learn("unigram", CORPUS, 380, "unigram", 0.9)


def test_any_other_complaint_of_the_trainer_is_one_line() -> None:
    error = _refused("unigram", 380, "INTERNAL: something\nelse")
    assert str(error).startswith("the tokenizer 'unigram' could not be trained: INTERNAL: something; ")
