from __future__ import annotations

import unicodedata

from hypothesis import given, settings

from glassformer.text.unigram import Unigram
from texts import CORPUS, nasty_text, trained

RARE = [*CORPUS, *"힣횋뷁궳쬋"]


def test_common_words_are_pieces() -> None:
    assert trained("unigram").pieces("학생은 학교에 갔다.")[:2] == ["학생은", "▁학교에"]


def test_a_known_syllable_is_never_cut_and_an_unknown_one_is_spelled_in_bytes() -> None:
    tokenizer = trained("unigram")
    assert "<" not in "".join("".join(tokenizer.pieces(text)) for text in CORPUS)
    assert tokenizer.pieces("뷁뷁") == ["<EB>", "<B7>", "<81>"] * 2
    assert tokenizer.spans("가뷁뷁") == [(0, 1), *[(1, 2)] * 3, *[(2, 3)] * 3]


@settings(deadline=None)
@given(nasty_text())
def test_exact_also_when_rare_characters_have_no_piece(text: str) -> None:
    tokenizer = _covered()
    assert tokenizer.decode(tokenizer.encode(text)) == unicodedata.normalize("NFC", text)


def _covered(cache: list[Unigram] = []) -> Unigram:  # noqa: B006
    if not cache:
        cache.append(Unigram.train(RARE, 340, character_coverage=0.98))
    return cache[0]
