"""All commands in one application. Imported after the language is known, because help texts are created here."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated, Any

import typer
from rich.columns import Columns
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from typer import rich_utils
from typer.completion import install  # type: ignore[attr-defined]
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
    explore,
    export,
    fill,
    forecast,
    generate,
    import_,
    lesson,
    lessons,
    models,
    plan,
    presets,
    recipes,
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


NARROW = 76  # columns inside a panel


class _Whole(Columns):
    """A help text without cut words: rich would cut a line of Hangul that just fits, because of the blank after it."""

    def __init__(self, texts: list[Any]) -> None:
        for text in texts:
            text.overflow = "fold"
        super().__init__(texts)


class _Names(Table):
    """The panels of --help: names of options and commands are never cut, the sentence gets the rest of the width.

    If that is little, the types of the options and empty columns are left out.
    """

    def add_column(self, *given: Any, **options: Any) -> None:
        super().add_column(*given, **{"overflow": "fold", **options})

    def add_row(self, *cells: Any, **options: Any) -> None:
        while len(self.columns) < len(cells):
            self.add_column(no_wrap=len(self.columns) < len(cells) - 1)
        super().add_row(*cells, **options)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if len(self.columns) > 2 and options.max_width < NARROW:
            *names, _, sentence = self.columns
            self.columns = [*(each for each in names if any(map(str, each._cells))), sentence]
            for index, column in enumerate(self.columns):
                column._index = index
        return super().__rich_console__(console, options)


rich_utils.Columns = _Whole  # type: ignore[assignment, attr-defined]
rich_utils.Table = _Names  # type: ignore[attr-defined]


class _InLanguage:
    """The word "Usage:" and the help of --help from words/: Typer has them only in English."""

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


SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(cls=Commands, help=say("help.app"), no_args_is_help=True, context_settings=SETTINGS)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def glassformer(
    version: Annotated[
        bool, typer.Option("--version", "-V", help=say("help.version"), callback=_print_version, is_eager=True)
    ] = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    """Options that stand before the command."""


# The groups of --help, in the order of a first day: look, train, use, check, learn, exchange.
GROUPS: dict[str, dict[str, ModuleType]] = {
    "look": {"count": count, "plan": plan, "presets": presets, "trace": trace, "explore": explore},
    "train": {"recipes": recipes, "train": train, "sweep": sweep, "data": data},
    "use": {
        "models": models,
        "translate": translate,
        "generate": generate,
        "classify": classify,
        "fill": fill,
        "recognise": recognise,
        "forecast": forecast,
        "embed": embed,
    },
    "check": {"evaluate": evaluate, "compare": compare, "bench": bench, "doctor": doctor},
    "learn": {"lessons": lessons, "lesson": lesson, "claims": claims, "report": report},
    "exchange": {"import": import_, "export": export},
}

for group, members in GROUPS.items():
    for name, module in members.items():
        made = app.command(
            name,
            cls=Command,
            help=say(f"help.{name}"),
            rich_help_panel=say(f"help.groups.{group}"),
            context_settings=SETTINGS,
        )
        made(module.command)


def whole_command() -> Any:
    """The group of all commands, with shell completion explained in the chosen language."""
    found: Any = typer.main.get_command(app)
    for parameter in found.params:
        if parameter.name == "install_completion":
            parameter.help, parameter.callback = say("help.install_completion"), _install_completion
        elif parameter.name == "show_completion":
            parameter.help = say("help.show_completion")
    return found


def _install_completion(context: Any, parameter: Any, wanted: Any) -> Any:
    if not wanted or context.resilient_parsing:
        return wanted
    asked = str(getattr(wanted, "value", wanted)) if isinstance(wanted, str) else None  # True: the shell in use
    shell, path = install(shell=asked, prog_name="glassformer")
    print(say("help.completion_installed", shell=shell, path=path))
    raise typer.Exit
