from __future__ import annotations

from glassformer.text.surface import fields, surface_spans


def piece(begin: int, end: int) -> bytes:
    inside = bytes([1 << 3 | 2, 1, 97, 4 << 3, begin, 5 << 3, end])
    return bytes([2 << 3 | 2, len(inside)]) + inside


def test_bytes_of_the_record_become_characters() -> None:
    record = bytes([1 << 3 | 2, 2, 97, 98]) + piece(0, 1) + piece(1, 4) + piece(4, 4) + piece(4, 8)
    assert surface_spans("a한bc글", record) == [(0, 1), (1, 2), (2, 2), (2, 5)]


def test_numbers_of_more_than_seven_bits() -> None:
    assert list(fields(bytes([4 << 3, 0xAC, 0x02]))) == [(4, 300)]
    assert list(fields(b"")) == []
