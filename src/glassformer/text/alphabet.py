"""How the pieces of a vocabulary spell bytes, so that no text is unknown: GPT-2's visible bytes, and byte fallback.

From the spelling follow the readable form of a piece and the characters that it covers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate

Spelling = Callable[[str], bytes]

BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))
BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>")


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
    if "\udc80" <= character <= "\udcff":  # a byte that is no character by itself
        return f"<{ord(character) - 0xDC00:02X}>"
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def cover(text: str, lengths: Sequence[int]) -> list[tuple[int, int]]:
    """The characters that each of a row of pieces covers, from the pieces' lengths in bytes.

    A piece that holds a part of a character covers all of it, so that the spans of its neighbours overlap.
    """
    if text.isascii():
        ends = list(accumulate(lengths))
        return [(end - length, end) for end, length in zip(ends, lengths, strict=True)]
    starts = [0, *accumulate(len(character.encode()) for character in text)]
    spans, place = [], 0
    for length in lengths:
        first, last = bisect_right(starts, place) - 1, bisect_right(starts, place + length - 1) - 1
        spans.append((first, last + 1))
        place += length
    return spans
