"""How the pieces of a vocabulary spell bytes, so that no text is unknown, and which characters each piece covers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate

Spelling = Callable[[str], bytes]

BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))
BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>")
PIECE, BEGIN, END = 2, 4, 5  # numbers of fields: of SentencePieceText, and of a SentencePiece in it


@cache
def visible_bytes() -> dict[str, int]:
    """GPT-2's alphabet: a printable character for each of the 256 bytes, most of them the character itself."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


def spell_visible(piece: str) -> bytes:
    """ "Ġa" → b" a"."""
    return bytes(map(visible_bytes().__getitem__, piece))


def spell_continued(piece: str) -> bytes:
    """As `spell_visible`, after WordPiece's mark for a piece inside of a word."""
    return spell_visible(piece[2:] if piece.startswith("##") else piece)


def spell_fallback(piece: str) -> bytes:
    """ "<0x0A>" → a newline, "학" → its three bytes."""
    byte = BYTE_PIECE.fullmatch(piece)
    return bytes([int(byte[1], 16)]) if byte else piece.encode()


def readable(spelled: bytes) -> str:
    """Bytes as a person reads them: a blank is shown as ▁, a part of a character as its bytes, such as <ED><95>."""
    return "".join(map(_visible, spelled.decode(errors="surrogateescape")))


def _visible(character: str) -> str:
    if character == " ":
        return "▁"
    if "\udc80" <= character <= "\udcff":  # a byte that is not a character by itself
        return f"<{ord(character) - 0xDC00:02X}>"
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def cover(text: str, lengths: Sequence[int]) -> list[tuple[int, int]]:
    """The characters that each of a row of pieces covers, from the pieces' lengths in bytes.

    A piece that holds a part of a character covers all of it, so that the spans of its neighbours overlap.
    """
    if text.isascii():
        ends = list(accumulate(lengths))
        return [(end - length, end) for end, length in zip(ends, lengths, strict=True)]
    starts, spans, place = _starts(text), [], 0
    for length in lengths:
        first, last = bisect_right(starts, place) - 1, bisect_right(starts, place + length - 1) - 1
        spans.append((first, last + 1))
        place += length
    return spans


def _starts(text: str) -> list[int]:
    """The byte at which each character begins, and where the last one ends."""
    return [0, *accumulate(len(character.encode()) for character in text)]


def surface_spans(text: str, record: bytes) -> list[tuple[int, int]]:
    """The characters that each piece of a foreign SentencePiece model covers, from the library's own record.

    The record is a protocol buffer: reading it in a few lines spares the core a dependency. Characters added by
    normalisation cover nothing.
    """
    starts, spans = _starts(text), []
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
