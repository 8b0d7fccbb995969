from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.data import tokenizer
from glassformer.lessons.data.tokenizer import BYTES, EXAMPLE, run
from glassformer.lessons.setup import LessonSetup
from glassformer.text.kinds import train

LITTLE = LessonSetup(effort=0.01)


@pytest.mark.slow
def test_bytes_and_characters_are_counted_as_they_are() -> None:
    data = run(LITTLE)
    assert data["kinds"]["bytes"]["vocab_size"] == BYTES == data["first"]["vocab_size"]
    assert data["kinds"]["characters"]["mean"]["ko"] == pytest.approx(data["characters_in"]["ko"], rel=0.01)
    assert data["kinds"]["bytes"]["mean"]["en"] == pytest.approx(data["characters_in"]["en"])
    assert data["kinds"]["bytes"]["mean"]["ko"] > data["characters_in"]["ko"] * 2
    assert data["example"]["characters"].count("|") == len(EXAMPLE) - 1


@pytest.mark.slow
def test_every_merge_shortens() -> None:
    lengths = [row["ko"] + row["en"] for row in run(LITTLE)["merges"]]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.slow
def test_the_numbers_are_those_of_the_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(LITTLE)

    def words_only(kind: str, texts: Any, vocab_size: int | None = None) -> Any:
        return train("words", texts) if kind == "characters" else train(kind, texts, vocab_size)

    monkeypatch.setattr(tokenizer, "train", words_only)
    assert run(LITTLE)["kinds"]["characters"]["mean"]["ko"] < before["kinds"]["characters"]["mean"]["ko"]
