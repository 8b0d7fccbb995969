"""`glassformer translate MODEL [TEXT …]`: arguments, or standard input line by line, answered as it comes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_json
from glassformer.errors import InputError, Phrase
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.evaluate.translate import Translated

AT_ONCE = 64  # lines, before their answers are shown
LONGEST_LINE = 1_000_000  # bytes, as in the files that are trained on
BLOCK = 1 << 16


def command(
    model: Annotated[str, typer.Argument(help=say("help.trained"), metavar="MODEL", show_default=False)],
    texts: Annotated[
        list[str] | None, typer.Argument(help=say("help.texts"), metavar="TEXT", show_default=False)
    ] = None,
    beam: Annotated[int, typer.Option("--beam", help=say("help.beam"))] = 4,
    length_penalty: Annotated[float, typer.Option("--length-penalty", help=say("help.length_penalty"))] = 0.6,
    length_norm: Annotated[str, typer.Option("--length-norm", help=say("help.length_norm"))] = "gnmt",
    stop: Annotated[str, typer.Option("--stop", help=say("help.stop"))] = "bound",
    nbest: Annotated[int, typer.Option("--nbest", help=say("help.nbest"))] = 1,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    from glassformer.evaluate.translate import Search, as_trained, candidates, sources
    from glassformer.open import load

    loaded = load(model)
    search = Search(beam=beam, alpha=length_penalty, length_norm=length_norm, stop=stop, n_best=nbest)
    search = as_trained(search, loaded.config)
    answers: list[dict[str, Any]] = []

    def find(lines: list[str]) -> list[list[Translated]]:
        return candidates(loaded.model, loaded.vocabularies, sources(loaded, lines), search)

    for lines in _one_by_one_where_needed(_given(texts) if texts else _read(sys.stdin.buffer), find):
        for line, some in lines:
            if json:
                answers.append({"source": line, "translations": [vars(one) for one in some]})
                continue
            for one in some:
                text = " ".join(one.text.splitlines())  # one line in, one line out
                print(text if nbest == 1 else f"{one.score:.4f}\t{text}")
        sys.stdout.flush()
    if json:
        print_json(answers)


def _one_by_one_where_needed(
    batches: Iterator[list[str]], find: Callable[[list[str]], list[list[Translated]]]
) -> Iterator[list[tuple[str, list[Translated]]]]:
    """Lines with what was found; where a line is refused, those before it are answered, and its number is said."""
    count = 0
    for lines in batches:
        try:
            together = list(zip(lines, find(lines), strict=True))
        except InputError:
            for number, line in enumerate(lines, count + 1):
                try:
                    alone = find([line])
                except InputError as error:
                    why = Phrase(f"errors.{error.key}", tuple(error.values.items()))
                    raise InputError("input_line_refused", line=number, why=why) from error
                yield [(line, alone[0])]
        else:
            yield together
        count += len(lines)


def _given(texts: list[str]) -> Iterator[list[str]]:
    return (texts[first : first + AT_ONCE] for first in range(0, len(texts), AT_ONCE))


def _read(stream: Any) -> Iterator[list[str]]:
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
