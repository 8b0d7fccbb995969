"""All commands under one name. Imported after the language is known, because help texts are made here."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.columns import Columns
from typer import rich_utils
from typer.core import TyperCommand, TyperGroup

from glassformer.cli import (
    bench,
    claims,
    classify,
    compare,
    count,
    data,
    doctor,
    embed,
    evaluate,
    export,
    fill,
    forecast,
    generate,
    import_,
    lesson,
    lessons,
    plan,
    presets,
    recognise,
    report,
    sweep,
    trace,
    train,
    translate,
)
from glassformer.cli.options import Debug, Lang
from glassformer.version import __version__
from glassformer.words import say

rich_utils.OPTIONS_PANEL_TITLE = say("help.options")
rich_utils.ARGUMENTS_PANEL_TITLE = say("help.arguments")
rich_utils.COMMANDS_PANEL_TITLE = say("help.commands")
rich_utils.REQUIRED_LONG_STRING = say("help.required")
rich_utils.DEFAULT_STRING = say("help.default")


class _Whole(Columns):
    """A help text of which no word is cut: rich takes the blank behind a line of Hangul that just fits for too much."""

    def __init__(self, texts: list[Any]) -> None:
        for text in texts:
            text.overflow = "fold"
        super().__init__(texts)


rich_utils.Columns = _Whole  # type: ignore[assignment, attr-defined]


class _InLanguage:
    """Typer writes "Usage:" and the help of --help in English only; these two come from words/."""

    def get_usage(self, context: Any) -> str:
        usage: str = super().get_usage(context)  # type: ignore[misc]
        return usage.replace("Usage:", say("help.usage"), 1)

    def get_help_option(self, context: Any) -> Any:
        option = super().get_help_option(context)  # type: ignore[misc]
        if option is not None:
            option.help = say("help.help")
        return option


class Command(_InLanguage, TyperCommand):
    """One command."""


class Commands(_InLanguage, TyperGroup):
    """All of them."""


app = typer.Typer(cls=Commands, help=say("help.app"), no_args_is_help=True, add_completion=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def glassformer(
    version: Annotated[
        bool, typer.Option("--version", help=say("help.version"), callback=_print_version, is_eager=True)
    ] = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    """Options that stand before the command."""


app.command("count", cls=Command, help=say("help.count"))(count.command)
app.command("plan", cls=Command, help=say("help.plan"))(plan.command)
app.command("presets", cls=Command, help=say("help.presets"))(presets.command)
app.command("trace", cls=Command, help=say("help.trace"))(trace.command)
app.command("compare", cls=Command, help=say("help.compare"))(compare.command)
app.command("data", cls=Command, help=say("help.data"))(data.command)
app.command("bench", cls=Command, help=say("help.bench"))(bench.command)
app.command("doctor", cls=Command, help=say("help.doctor"))(doctor.command)
app.command("train", cls=Command, help=say("help.train"))(train.command)
app.command("translate", cls=Command, help=say("help.translate"))(translate.command)
app.command("generate", cls=Command, help=say("help.generate"))(generate.command)
app.command("classify", cls=Command, help=say("help.classify"))(classify.command)
app.command("fill", cls=Command, help=say("help.fill"))(fill.command)
app.command("recognise", cls=Command, help=say("help.recognise"))(recognise.command)
app.command("forecast", cls=Command, help=say("help.forecast"))(forecast.command)
app.command("embed", cls=Command, help=say("help.embed"))(embed.command)
app.command("evaluate", cls=Command, help=say("help.evaluate"))(evaluate.command)
app.command("import", cls=Command, help=say("help.import"))(import_.command)
app.command("export", cls=Command, help=say("help.export"))(export.command)
app.command("sweep", cls=Command, help=say("help.sweep"))(sweep.command)
app.command("lessons", cls=Command, help=say("help.lessons"))(lessons.command)
app.command("lesson", cls=Command, help=say("help.lesson"))(lesson.command)
app.command("claims", cls=Command, help=say("help.claims"))(claims.command)
app.command("report", cls=Command, help=say("help.report"))(report.command)
