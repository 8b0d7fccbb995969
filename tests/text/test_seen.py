from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.errors import GlassformerWarning
from glassformer.text import Words
from glassformer.text import seen as module
from glassformer.text.seen import SeenText, unknown, words_of


def test_words_are_letters_in_a_row_whatever_their_case() -> None:
    assert words_of("The cat's toy, well-made: 3!") == ["the", "cat's", "toy", "well-made", "3"]
    assert words_of("\u1102\u1161\u1102\u1173\u11ab 간다.") == ["나는", "간다"]  # typed as jamo


def test_what_no_training_text_held(tmp_path: Path) -> None:
    found = SeenText.of(["나는 학교에 간다.", "The cat"])
    assert found.missing("나는 병원에 간다, the Dog") == ["병원에", "dog"]
    assert found.missing("THE 학교에!") == []
    found.save(tmp_path)
    assert SeenText.open(tmp_path) == found
    assert SeenText.open(tmp_path / "none") is None


def test_of_too_many_words_the_characters_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    found = SeenText.of(["a b c", "d"])
    assert found == SeenText(None, frozenset("abcd "), 5)
    assert found.missing("abz z\té") == ["z", "é"]
    found.save(tmp_path)
    assert SeenText.open(tmp_path) == found


def test_how_long_the_longest_was(tmp_path: Path) -> None:
    found = SeenText.of(["나는", "\u1102\u1161\u1102\u1173\u11ab 간다"])
    assert found.longest == 5 and found.too_long("나는 간다.") and not found.too_long("나는 간다")
    (tmp_path / "seen.json").write_text('{"words": ["a"], "characters": "a"}')  # of an older version
    older = SeenText.open(tmp_path)
    assert older is not None and older.longest is None and not older.too_long("a" * 9999)
    assert SeenText.of([]).longest is None


def test_of_a_tokenizer_from_elsewhere_what_it_has_no_piece_for() -> None:
    tokenizer = Words.train(["나는 간다"])
    assert unknown(tokenizer, "나는 집에 간다 집에") == ["집에"]
    assert unknown(tokenizer, "간다") == []


@pytest.mark.parametrize("text", ["{", "[]", '{"words": 5, "characters": "a"}', '{"words": null}'])
def test_a_damaged_file_is_said_once_and_answers_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "seen.json").write_text(text)
    with pytest.warns(GlassformerWarning, match=r"seen\.json is damaged") as said:
        assert SeenText.open(tmp_path) is None
    assert len(said) == 1
