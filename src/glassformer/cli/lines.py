"""The texts of a command: its arguments, or standard input line by line, answered as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from glassformer.errors import InputError, reason

AT_ONCE = 64  # lines, before their answers are shown
LONGEST_LINE = 1_000_000  # bytes, as in the files that are trained on
BLOCK = 1 << 16
T = TypeVar("T")


def answered(texts: list[str] | None, find: Callable[[list[str]], Sequence[T]]) -> Iterator[list[tuple[str, T]]]:
    """Texts with what was found; where one is refused, those before it are answered, and its number is said."""
    count = 0
    for lines in _given(texts) if texts else read(sys.stdin.buffer):
        try:
            together = list(zip(lines, find(lines), strict=True))
        except InputError:
            for number, line in enumerate(lines, count + 1):
                yield [(line, _alone(line, number, find))]
        else:
            yield together
        count += len(lines)


def _alone(line: str, number: int, find: Callable[[list[str]], Sequence[T]]) -> T:
    try:
        return find([line])[0]
    except InputError as error:
        raise InputError("input_line_refused", line=number, why=reason(error)) from error


def _given(texts: list[str]) -> Iterator[list[str]]:
    return (texts[first : first + AT_ONCE] for first in range(0, len(texts), AT_ONCE))


def read(stream: Any) -> Iterator[list[str]]:
    """The lines that have arrived, without waiting for more: a person, a pipe and a file are all answered early."""
    rest, count = b"", 0
    while piece := stream.read1(BLOCK):
        *whole, rest = (rest + piece).split(b"\n")
        for first in range(0, len(whole), AT_ONCE):
            some = whole[first : first + AT_ONCE]
            yield [_decoded(line, count + number) for number, line in enumerate(some, 1)]
            count += len(some)
        if len(rest) > LONGEST_LINE:
            raise InputError("input_line_too_long", line=count + 1, limit=LONGEST_LINE)
    if rest:
        yield [_decoded(rest, count + 1)]


def _decoded(line: bytes, number: int) -> str:
    try:
        text = line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("input_not_utf8", line=number, byte=error.start + 1) from error
    return text.removeprefix("\ufeff") if number == 1 else text
