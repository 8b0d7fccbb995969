from __future__ import annotations

from glassformer.text import Characters
from texts import CORPUS


def test_the_commonest_characters_first() -> None:
    tokenizer = Characters.train(["가나다", "나다", "다"])
    assert tokenizer.vocab_size == 7 + 256 + 3
    assert tokenizer.encode("다나가") == [263, 264, 265]
    assert Characters.train(["가나다", "나다", "다"], 264).pieces("다나") == ["다", "<EB>", "<82>", "<98>"]


def test_rare_characters_are_spelled_in_bytes() -> None:
    tokenizer = Characters.train([*CORPUS, "힣"], min_frequency=2)
    assert tokenizer.pieces("나힣") == ["나", "<ED>", "<9E>", "<A3>"]
    assert tokenizer.decode(tokenizer.encode("나힣")) == "나힣"
