"""The texts of a command: its arguments, or standard input line by line, answered as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from glassformer.cli.output import complain, print_json
from glassformer.errors import InputError, reason, warn
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.loading import Loaded


LINES_AT_ONCE = 64  # lines per batch of answers
LONGEST_LINE = 1_000_000  # bytes, as in the files that are trained on
BLOCK = 1 << 16
T = TypeVar("T")
Line = str | InputError  # a line, or why it was refused
SHOWN = 8  # words of a text; the rest are counted


class Lines:
    """The texts to answer. A text that is refused is reported with its number, and the others are answered."""

    def __init__(self, texts: list[str] | None) -> None:
        self.texts = texts
        self.refused = 0

    @property
    def exit_code(self) -> int:
        return 1 if self.refused else 0

    def answer(
        self,
        loaded: Loaded,
        find: Callable[[list[str]], Sequence[T]],
        show: Callable[[T], None],
        to_json: Callable[[str, T | None], dict[str, Any]],
        *,
        json: bool,
        words: Callable[[str], str] = str,
    ) -> int:
        """Print the answer to every text as it comes, or with --json one document at the end; return the exit code.

        One line in, one line out: a refused text gives an empty line. `words`: the part of a text that is looked up.
        """
        documents: list[dict[str, Any]] = []
        for answers in self.answered(find):
            outside = outside_training(loaded, [(words(line), one) for line, one in answers])
            for (line, one), beyond in zip(answers, outside, strict=True):
                if json:
                    documents.append(to_json(line, one) | beyond.to_json())
                elif one is None:
                    print()
                else:
                    show(one)
            sys.stdout.flush()
        if json:
            print_json(documents)
        return self.exit_code

    def answered(self, find: Callable[[list[str]], Sequence[T]]) -> Iterator[list[tuple[str, T | None]]]:
        """Texts with their answers, as they come; None for a text that was refused."""
        count = 0
        for lines in self._given():
            whole = [line for line in lines if isinstance(line, str)]
            try:
                found = find(whole) if len(whole) == len(lines) else None
            except InputError:
                found = None
            if found is None:
                for number, line in enumerate(lines, count + 1):
                    yield [self._alone(line, number, find)]
            else:
                yield list(zip(whole, found, strict=True))
            count += len(lines)

    def _alone(self, line: Line, number: int, find: Callable[[list[str]], Sequence[T]]) -> tuple[str, T | None]:
        try:
            if isinstance(line, InputError):
                raise line
            return line, find([line])[0]
        except InputError as error:
            self.refused += 1
            complain(error if error is line else InputError("input_line_refused", line=number, why=reason(error)))
            return line if isinstance(line, str) else "", None

    def _given(self) -> Iterator[Sequence[Line]]:
        if self.texts:
            for first in range(0, len(self.texts), LINES_AT_ONCE):
                yield self.texts[first : first + LINES_AT_ONCE]
            return
        if sys.stdin.isatty():
            print(say("answers.prompt"), file=sys.stderr)
        yield from read_arrived(sys.stdin.buffer)


def read_arrived(stream: Any) -> Iterator[list[Line]]:
    """The lines that have arrived, without waiting for more: a person, a pipe and a file are all answered early.

    The rest of a line that is too long is skipped and never held in memory.
    """
    rest, count, endless = b"", 0, False
    while piece := stream.read1(BLOCK):
        *whole, rest = (rest + piece).split(b"\n")
        if endless and whole:
            endless, whole[0] = False, b"\n"  # a newline, which no line contains, marks a line that was too long
        for first in range(0, len(whole), LINES_AT_ONCE):
            some = whole[first : first + LINES_AT_ONCE]
            yield [_decoded(line, count + number) for number, line in enumerate(some, 1)]
            count += len(some)
        if endless or len(rest) > LONGEST_LINE:
            endless, rest = True, b""
    if endless or rest:
        yield [_decoded(b"\n" if endless else rest, count + 1)]


def _decoded(line: bytes, number: int) -> Line:
    if line == b"\n" or len(line) > LONGEST_LINE:
        return InputError("input_line_too_long", line=number, limit=LONGEST_LINE)
    try:
        text = line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        return InputError("input_not_utf8", line=number, byte=error.start + 1)
    return text.removeprefix("\ufeff") if number == 1 else text


class Outside(NamedTuple):
    """How a text lies outside what a model has learned: its unseen words, and the longest text if it is longer."""

    unseen: list[str]
    longest: int | None

    def to_json(self) -> dict[str, Any]:
        return {"unseen": self.unseen, "longer_than": self.longest}


def outside_training(loaded: Loaded, answered: Sequence[tuple[str, object]]) -> list[Outside]:
    """How each text lies outside the training texts, with a warning for each way; nothing for one without an answer."""
    from glassformer.text.normalisation import normalise

    texts = ["" if answer is None else normalise(text) for text, answer in answered]
    found = [Outside(*each) for each in zip(loaded.unseen(texts), loaded.longer(texts), strict=True)]
    for text, (words, longest) in zip(texts, found, strict=True):
        if words:
            more = f" (+{len(words) - SHOWN})" if len(words) > SHOWN else ""
            warn("unseen_words", words=", ".join(words[:SHOWN]) + more)
        if longest is not None:
            warn("longer_text", length=len(text), longest=longest)
    return found
