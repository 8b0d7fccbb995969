from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.errors import ConfigError, InputError
from glassformer.tasks.language_model.syllables import Stops, Syllables
from texts import EXACT, SIZES, nasty_text, trained

KOREAN = "똠방각하 펩시콜라 훑었다 👨‍👩‍👧‍👦 끝."  # syllables that are no pieces: their bytes are


def told(kind: str, prompt: str, text: str) -> list[str]:
    """A text of a tokenizer behind a prompt, token by token; the rest comes last."""
    tokenizer = trained(kind)
    syllables = Syllables(tokenizer, tokenizer.encode(prompt))
    return [*(syllables.add(token) for token in tokenizer.encode(text)), syllables.rest()]


@pytest.mark.parametrize("kind", EXACT)
def test_no_half_of_a_syllable_is_shown(kind: str) -> None:
    found = told(kind, "나는 ", KOREAN)
    assert "".join(found) == KOREAN
    assert not any("\ufffd" in text for text in found)
    assert found[-1] == ""


def test_there_were_halves() -> None:
    tokenizer = trained("bpe")
    assert any("\ufffd" in tokenizer.decode([token]) for token in tokenizer.encode(KOREAN))
    assert "" in told("bpe", "", KOREAN)[:-1]


def test_a_whole_token_is_shown_at_once() -> None:
    assert told("bpe", "we", " go home")[:2] == [" go", " home"]


@pytest.mark.parametrize("kind", SIZES)
def test_blanks_between_words_are_kept(kind: str) -> None:
    text = "we go home" if kind != "words" else "we go home!"
    tokenizer = trained(kind)
    ids = tokenizer.encode(text)
    for cut in range(len(ids) + 1):
        syllables = Syllables(tokenizer, ids[:cut])
        rest = "".join([syllables.add(token) for token in ids[cut:]])
        assert tokenizer.decode(ids[:cut]) + rest == tokenizer.decode(ids)


def test_what_never_becomes_a_character_comes_at_the_end() -> None:
    tokenizer = trained("bpe")
    (half,) = [token for token in range(tokenizer.vocab_size) if tokenizer.piece(token) == "<ED>"]
    syllables = Syllables(tokenizer, [])
    assert [syllables.add(half), syllables.add(half), syllables.rest()] == ["", "", "\ufffd\ufffd"]


def test_a_row_that_no_piece_belongs_to_is_nothing() -> None:
    tokenizer = trained("bpe")
    assert Syllables(tokenizer, []).add(tokenizer.vocab_size) == ""


@settings(max_examples=60, deadline=None)
@given(prompt=nasty_text(), text=nasty_text())
def test_any_text_comes_out_as_it_went_in(prompt: str, text: str) -> None:
    tokenizer = trained("bpe")
    assert "".join(told("bpe", prompt, text)) == tokenizer.decode(tokenizer.encode(text))


# --- stop texts ---


def cut(stops: list[str], pieces: list[str]) -> tuple[list[str], str, bool]:
    until = Stops(stops)
    shown = []
    for piece in pieces:
        shown.append(until.add(piece))
        if until.met:
            break
    return shown, until.held, until.met


def test_a_stop_text_is_not_shown_even_in_pieces() -> None:
    assert cut(["END"], ["ab", "cE", "N", "Dxy", "z"]) == (["ab", "c", "", ""], "", True)
    assert cut(["END"], ["abENDxy"]) == (["ab"], "", True)


def test_what_only_began_like_one_is_shown_later() -> None:
    assert cut(["END"], ["aE", "Nx", "EN"]) == (["a", "ENx", ""], "EN", False)
    assert cut(["aab"], ["a", "a", "a", "b"]) == (["", "", "a", ""], "", True)


def test_the_first_of_several_counts() -> None:
    assert cut(["!", "go"], ["we go home!"]) == (["we "], "", True)
    assert cut([], ["a", "b"]) == (["a", "b"], "", False)


@given(st.text("ab", max_size=12), st.text("ab", min_size=1, max_size=3), st.integers(1, 4))
def test_however_it_is_cut_the_same_is_shown(text: str, stop: str, width: int) -> None:
    pieces = [text[i : i + width] for i in range(0, len(text), width)]
    shown, held, met = cut([stop], pieces)
    assert "".join(shown) + held == text.split(stop)[0] and met == (stop in text)


def test_a_stop_text_of_decomposed_syllables_is_found() -> None:
    assert cut(["\u1112\u1161\u11ab"], ["한글"]) == ([""], "", True)


def test_stop_texts_that_are_none() -> None:
    with pytest.raises(ConfigError, match="a stop text is empty, and would end everything at once"):
        Stops(["a", ""])
    with pytest.raises(InputError, match="3 is not a text"):
        Stops([3])  # type: ignore[list-item]
