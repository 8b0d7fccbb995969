from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.errors import InputError
from glassformer.text.normalisation import normalise


def test_jamo_become_syllables() -> None:
    assert normalise("\u1112\u1161\u11ab\u1100\u1173\u11af") == "한글"


def test_old_jamo_that_compose_to_nothing_stay() -> None:
    assert normalise("\u1112\u119e\u11ab") == "\u1112\u119e\u11ab"


@settings(deadline=None)
@given(st.text())
def test_it_is_nfc_and_nothing_else(text: str) -> None:
    assert normalise(text) == unicodedata.normalize("NFC", text)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InputError, match=r"character 2 of the text is half of a surrogate pair \(U\+D83D\)"):
        normalise("a \ud83d")


@pytest.mark.parametrize("value", [None, 3, b"text", ["text"]])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="is not a text; give a string"):
        normalise(value)  # type: ignore[arg-type]
