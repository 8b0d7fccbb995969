"""Where the pieces of a foreign SentencePiece model stand in the text, from the library's own record of the encoding.

The record is a protocol buffer; the few lines that read it spare the core a dependency.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

PIECE, BEGIN, END = 2, 4, 5  # numbers of fields: of SentencePieceText, and of a SentencePiece in it


def surface_spans(text: str, record: bytes) -> list[tuple[int, int]]:
    """The characters that each piece covers; what normalisation has made out of nothing covers nothing."""
    starts = [0, *accumulate(len(character.encode()) for character in text)]
    spans = []
    for field, piece in fields(record):
        if field == PIECE and isinstance(piece, bytes):
            ends = {name: place for name, place in fields(piece) if name in (BEGIN, END)}
            begin, end = int(ends.get(BEGIN, 0)), int(ends.get(END, 0))
            first = bisect_right(starts, begin) - 1
            spans.append((first, max(first, bisect_right(starts, end - 1)) if end > begin else first))
    return spans


def fields(record: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field; only the two kinds of value that occur in these records."""
    place = 0
    while place < len(record):
        key, place = _number(record, place)
        value, place = _number(record, place)
        if key & 7 == 0:
            yield key >> 3, value
        else:
            yield key >> 3, record[place : place + value]
            place += value


def _number(record: bytes, place: int) -> tuple[int, int]:
    """A whole number of any length, seven bits in each byte."""
    value = shift = 0
    while True:
        byte = record[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
