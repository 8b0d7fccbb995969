"""A small corpus in two languages, and one tokenizer of each kind trained on it."""

from __future__ import annotations

import os
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import strategies as st

from glassformer.text import Tokenizer, train

SUBJECTS = ("나는", "너는", "그는", "우리는", "학생은", "선생님은", "아이는", "친구가", "어머니께서")
PLACES = ("학교에", "집에", "도서관에서", "병원에", "바다에", "시장으로", "공원에서")
VERBS = ("간다", "갔다", "가지 않는다", "갈 것이다", "왔습니다", "기다렸어요")
WHO = ("I", "you", "he", "we", "the student", "my teacher", "the child", "a friend")
DOES = ("go", "went", "do not go", "will go", "walked", "are waiting")
WHERE = ("to school", "home", "to the library", "to the hospital", "at the market")
CORPUS = [f"{' '.join(words)}." for words in product(SUBJECTS, PLACES, VERBS)] + [
    f"{' '.join(words)}!" for words in product(WHO, DOES, WHERE)
]
SIZES = {"bpe": 420, "wordpiece": 700, "unigram": 380, "sentencepiece": 380, "characters": None, "words": None}
EXACT = ("bpe", "wordpiece", "unigram", "sentencepiece", "characters")

# What has broken some tokenizer: names of special pieces, marks of the libraries, what composes, what is invisible.
NASTY = (
    *("<pad>", "<eos>", "<unk>", "<mask>", "<s>", "[CLS]", "<|endoftext|>", "<0x0A>", "<0xE2>"),
    *("##", "##a", "#", "###", "▁", "▁a", "Ġ", "Ċ", "▅", "\0", "\t", "\n", "\r\n", " ", "  ", "\u3000", "\u00a0"),
    *("\u0301", "e\u0301", "\u1112\u1161\u11ab", "\u1112\u119e\u11ab", "ㅎㅏㄴ", "한글", "각\u11a8", "\u115f\u1160"),
    *("👨‍👩‍👧‍👦", "🤦🏽‍♂️", "🇰🇷", "\u200b", "\ufeff", "\u202e", "\ud7ff", "\ue000"),
    *("\U0010ffff", "\U00011938", "ﬁ", "Ａ", "ẞ", "İ"),
    *("don't", "'s", "'string", "school", " 학교에", "12345678901234567890123456", "가" * 60, "-" * 60, " " * 60),
)


def nasty_text() -> st.SearchStrategy[str]:
    return st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=8)), max_size=8).map("".join)


@cache
def trained(kind: str) -> Tokenizer:
    return train(kind, CORPUS, SIZES[kind])


def data_file(name: str) -> Path:
    """A file of the data sets beside the checkout, or a skip that says what is missing."""
    given = os.environ.get("GLASSFORMER_DATA")
    root = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    if not (root / name).is_file():
        pytest.skip(f"{name} is not in {root}; set GLASSFORMER_DATA")
    return root / name
