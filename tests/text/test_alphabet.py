from __future__ import annotations

import pytest
from tokenizers.pre_tokenizers import ByteLevel

from glassformer.text.alphabet import (
    BYTE_PIECES,
    cover,
    fields,
    readable,
    spell_continued,
    spell_fallback,
    spell_visible,
    surface_spans,
    visible_bytes,
)


def test_visible_bytes_are_those_of_the_library() -> None:
    assert sorted(visible_bytes()) == sorted(ByteLevel.alphabet())
    assert sorted(visible_bytes().values()) == list(range(256))
    text = "".join(map(chr, range(1, 0x800))) + "학교 😀"
    ((piece, _),) = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    assert spell_visible(piece) == text.encode()


def test_spelling() -> None:
    assert spell_visible("Ġa") == b" a"
    assert spell_continued("##a") == b"a"
    assert spell_fallback("<0x0A>") == b"\n"
    assert spell_fallback("학") == "학".encode()
    assert [spell_fallback(piece) for piece in BYTE_PIECES] == [bytes([byte]) for byte in range(256)]
    with pytest.raises(KeyError):
        spell_visible("학")


def test_readable() -> None:
    assert readable(" 학교".encode()) == "▁학교"
    assert readable(" 학".encode()[:3]) == "▁<ED><95>"
    assert readable(b"a\n\0") == r"a\n\x00"


def test_a_part_of_a_syllable_covers_all_of_it() -> None:
    assert cover("a한b", [1, 2, 1, 1]) == [(0, 1), (1, 2), (1, 2), (2, 3)]
    assert cover("한글", [4, 2]) == [(0, 2), (1, 2)]
    assert cover("abc", [2, 1]) == [(0, 2), (2, 3)]
    assert cover("", []) == []


def piece(begin: int, end: int) -> bytes:
    inside = bytes([1 << 3 | 2, 1, 97, 4 << 3, begin, 5 << 3, end])
    return bytes([2 << 3 | 2, len(inside)]) + inside


def test_bytes_of_the_record_become_characters() -> None:
    record = bytes([1 << 3 | 2, 2, 97, 98]) + piece(0, 1) + piece(1, 4) + piece(4, 4) + piece(4, 8)
    assert surface_spans("a한bc글", record) == [(0, 1), (1, 2), (2, 2), (2, 5)]


def test_numbers_of_more_than_seven_bits() -> None:
    assert list(fields(bytes([4 << 3, 0xAC, 0x02]))) == [(4, 300)]
    assert list(fields(b"")) == []
