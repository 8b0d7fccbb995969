"""`glassformer claims [ID …]`: what people say about Transformers, each with its verdict and what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.errors import UsageError
from glassformer.words import language, say

MOST_WORKERS = 256


def command(
    ids: Annotated[
        list[str] | None, typer.Argument(help=say("help.claim_ids"), metavar="[ID]...", show_default=False)
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help=say("help.claims_fresh"))] = False,
    workers: Annotated[int | None, typer.Option("--workers", help=say("help.workers"), show_default=False)] = None,
    record: Annotated[Path | None, typer.Option("--record", help=say("help.claims_record"), hidden=True)] = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    from glassformer.lessons import index
    from glassformer.lessons.catalogue import LESSONS

    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise UsageError("out_of_range", key="--workers", value=workers, low=1, high=MOST_WORKERS)
    asked = list(LESSONS) if fresh and not ids else index.lessons_of(ids or [])
    from glassformer.cli.measuring import cores, measured
    from glassformer.lessons.claims import Claims
    from glassformer.lessons.lesson_results import LessonResults
    from glassformer.lessons.record import own

    results, well = LessonResults(), True
    wanted = asked if fresh else [name for name in asked if results.result(name) is None]
    failed: set[str] = set()
    if wanted:
        fresh_results, well = measured(wanted, record or own(), workers or cores(), quiet=json)
        results, failed = LessonResults(fresh_results), set(wanted) - set(fresh_results)
    lessons = index.claims()
    # an old number must not stand for a measurement that has just failed
    answers = [
        results.answer(claim, language()) for claim in index.named(ids or []) or lessons if lessons[claim] not in failed
    ]
    found = Claims(answer for answer in answers if answer is not None)
    if json:
        print_json([answer.to_json() for answer in found])
    elif found:
        print_rich(*found.shown().parts)
    return 0 if well else 1
