"""`glassformer report`: the textbook as a web page and as Markdown, with a chapter on a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glassformer.cli.options import Debug, Force, Json
from glassformer.cli.output import print_json, print_rich, warn_of_fonts
from glassformer.errors import UsageError
from glassformer.words import LANGUAGES, say

if TYPE_CHECKING:
    from glassformer.textbook.build import Report

CHOICES = {"both": LANGUAGES, **{lang: (lang,) for lang in LANGUAGES}}


def command(
    run: Annotated[Path | None, typer.Option("--run", help=say("help.report_run"), show_default=False)] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help=say("help.report_fresh"))] = False,
    out: Annotated[Path, typer.Option("--out", help=say("help.report_out"))] = Path("report"),
    refresh: Annotated[
        float | None, typer.Option("--refresh", help=say("help.report_refresh"), show_default=False)
    ] = None,
    force: Force = False,
    json: Json = False,
    lang: Annotated[str, typer.Option("--lang", help=say("help.report_lang"))] = "both",
    debug: Debug = False,
) -> int:
    if lang not in CHOICES:
        raise UsageError("bad_lang", given=lang)
    if refresh is not None and (run is None or not refresh > 0):
        raise UsageError("report_refresh", given=refresh)
    from glassformer.cli.measuring import Bars
    from glassformer.textbook.build import prepared_report

    report, failed = prepared_report(out, CHOICES[lang], run, fresh=fresh, force=force, audience=Bars(quiet=json))
    warn_of_fonts()
    paths = _build(report, quiet=json)
    if json:
        print_json({"files": [str(path) for path in paths]})
    else:
        print_rich(*(say("report.written", path=path) for path in paths))
    if refresh is not None:
        _follow(report, refresh, quiet=json)
    return 1 if failed else 0


def _build(report: Report, *, quiet: bool) -> list[Path]:
    """Write the report, with a bar while pictures are drawn; before that, a line says what can be read already."""
    from glassformer.cli.measuring import measuring_bars

    with measuring_bars(quiet=quiet) as shown:
        task = shown.add_task(say("report.drawing"), total=1.0, visible=False)

        def watch(name: str, share: float) -> None:
            shown.update(task, completed=share, description=f"{say('report.drawing')} · {name}", visible=True)

        def readable(paths: list[Path]) -> None:
            if not quiet:
                shown.console.print(say("report.readable", path=paths[0]))

        return report.build(watch, readable)


def _follow(report: Report, seconds: float, *, quiet: bool) -> None:
    """Rewrite the chapter on a run until it has ended; Ctrl-C only stops following."""
    import time

    if not quiet:
        print_rich(say("report.following", path=report.order.run, seconds=f"{seconds:g}"))
    while report.refresh():
        time.sleep(seconds)
    report.build()
