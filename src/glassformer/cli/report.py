"""`glassformer report`: the textbook as a web page and as Markdown, with a chapter on a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.options import Debug, Json
from glassformer.cli.output import print_json, print_rich
from glassformer.words import LANGUAGES, say

CHOICES = {"both": LANGUAGES, **{lang: (lang,) for lang in LANGUAGES}}


def command(
    run: Annotated[Path | None, typer.Option("--run", help=say("help.report_run"), show_default=False)] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help=say("help.report_fresh"))] = False,
    out: Annotated[Path, typer.Option("--out", help=say("help.report_out"))] = Path("report"),
    refresh: Annotated[
        float | None, typer.Option("--refresh", help=say("help.report_refresh"), show_default=False)
    ] = None,
    json: Json = False,
    lang: Annotated[str, typer.Option("--lang", help=say("help.report_lang"))] = "both",
    debug: Debug = False,
) -> int:
    from glassformer.cli.measuring import bars, cores, measured
    from glassformer.lessons.catalogue import LESSONS
    from glassformer.lessons.record import own
    from glassformer.lessons.shelf import Shelf
    from glassformer.report.build import build

    shelf, well = Shelf(), True
    if fresh:
        results, well = measured(list(LESSONS), own(), cores(), quiet=json)
        shelf = Shelf(results)
    with bars(quiet=json) as shown:
        task = shown.add_task(say("report.drawing"), total=1.0, visible=False)

        def watch(name: str, share: float) -> None:
            shown.update(task, completed=share, description=f"{say('report.drawing')} · {name}", visible=True)

        def readable(paths: list[Path]) -> None:
            if not json:
                shown.console.print(say("report.readable", path=paths[0]))

        paths = build(out, CHOICES[lang], shelf=shelf, workers=cores(), watch=watch, readable=readable)
    if json:
        print_json({"files": [str(path) for path in paths]})
    else:
        print_rich(*(say("report.written", path=path) for path in paths))
    return 0 if well else 1
