"""The entry point: finds the language, starts the command, and turns every error into one line and an exit code.

0 done · 1 failed · 2 wrong use. torch is imported by the command that needs it, never for --help.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from glassformer.errors import GlassformerError, Phrase, UsageError, suggest
from glassformer.words import LANGUAGES, language, say


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in argv
    try:
        # The help texts are made when the commands are loaded: the language must be known before.
        os.environ["GLASSFORMER_LANG"] = lang = _language(argv)
    except UsageError as error:
        _fail(error.in_language(language()), 2)
    try:
        code = _run(argv)
    except GlassformerError as error:
        if debug:
            raise
        _fail(error.in_language(lang), 2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        _fail(say("errors.interrupted", lang), 1)
    except BrokenPipeError:  # `glassformer presets | head`: nobody reads any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        if debug:
            raise
        _fail(say("errors.disk", lang, path=error.filename or "stdout", why=error.strerror or str(error)), 1)
    except Exception as error:
        if debug:
            raise
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        _fail(say("errors.unexpected", lang, what=what), 1)
    sys.exit(code)


def _language(argv: Sequence[str]) -> str:
    """--lang ko, --lang=ko, wherever it stands; else the locale."""
    given = None
    for word, after in zip(argv, [*argv[1:], ""], strict=True):
        if word == "--":
            break
        if word == "--lang":
            given = after
        elif word.startswith("--lang="):
            given = word.removeprefix("--lang=")
    if given is not None and given not in LANGUAGES:
        raise UsageError("bad_lang", given=given or '""')
    return given or language()


def _fail(line: str, code: int) -> NoReturn:
    sys.stderr.write(" ".join(line.split()) + "\n")  # one line, whatever the values hold
    sys.exit(code)


def _run(argv: list[str]) -> int:
    import typer

    from glassformer.cli.commands import app

    group: Any = typer.main.get_command(app)
    try:
        result = group.main(argv, prog_name="glassformer", standalone_mode=False)
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort as stop:
        raise KeyboardInterrupt from stop
    except typer.TyperException as error:
        raise _usage(error, argv, sorted(group.commands)) from error
    return result if isinstance(result, int) else 0


def _usage(error: Any, argv: list[str], commands: list[str]) -> UsageError:
    """Typer's own complaint, said in our words and in the chosen language."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    command = context.command_path.removeprefix("glassformer").strip() if context else ""
    match type(error).__name__:
        case "NoSuchOption":
            known = [option for each in context.command.params for option in each.opts] if context else []
            hint = suggest(error.option_name, known)
            return UsageError("usage_unknown_option", option=error.option_name, hint=hint, command=command)
        case "MissingParameter":
            return UsageError(
                "usage_missing", name=(parameter.name or "").upper() if parameter else "", command=command
            )
        case "BadParameter" if parameter:
            name, expected = parameter.opts[0], Phrase(f"expected.{_type_name(parameter)}")
            return UsageError("usage_bad_value", name=name, value=_given(name, argv), expected=expected)
    if "No such command" in str(error):
        word = str(error).split("'")[1]
        return UsageError("usage_unknown_command", command=word, hint=suggest(word, commands))
    return UsageError("usage_other", message=str(error) or type(error).__name__)


def _type_name(parameter: Any) -> str:
    name = str(getattr(parameter.type, "name", "")).lower()
    return {"integer": "int", "int": "int", "float": "float", "bool": "bool", "boolean": "bool"}.get(name, "str")


def _given(option: str, argv: list[str]) -> str:
    """What stood behind the option, for the message."""
    for word, after in zip(argv, [*argv[1:], ""], strict=True):
        if word == option:
            return after
        if word.startswith(f"{option}="):
            return word.removeprefix(f"{option}=")
    return ""
