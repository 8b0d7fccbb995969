"""The entry point: finds the language, starts the command, and turns every error into one line and an exit code.

0 done · 1 failed · 2 wrong use. torch is imported by the command that needs it, never for --help.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from io import StringIO, TextIOWrapper
from typing import Any, NoReturn

from glassformer.cli.output import one_line
from glassformer.errors import GlassformerError, GlassformerWarning, Phrase, UsageError, suggest
from glassformer.torchrun import hush
from glassformer.words import LANGUAGES, language, say


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code."""
    hush()
    argv = list(sys.argv[1:] if arguments is None else arguments)
    sys.stdout = sys.stdout or StringIO()  # None if the shell has closed it
    if isinstance(sys.stdout, TextIOWrapper):  # a character that the terminal cannot show is no reason to stop
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        # Help texts are created when the commands are loaded, so the language must be known before.
        os.environ["GLASSFORMER_LANG"] = lang = _language(argv)
    except UsageError as error:
        _fail(error.in_language(language()), 2)
    _say_warnings(lang)
    try:
        code = _run(argv)
        sys.stdout.flush()  # a closed pipe or a full disk raises here, not while Python exits
    except BrokenPipeError:  # `glassformer presets | head`: the reader has gone
        _discard_output()
        code = 0
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of a Rust library is not an Exception
        if "--debug" in argv:
            traceback.print_exc()
        _fail(*_last_words(error, lang))
    sys.exit(code)


def _say_warnings(lang: str) -> None:
    """Print each of our warnings as one line on stderr; those of other libraries stay as Python shows them."""
    others = warnings.showwarning

    def show(message: Warning | str, *about: Any, **more: Any) -> None:
        if isinstance(message, GlassformerWarning):
            sys.stderr.write(one_line(message.in_language(lang)))
        else:
            others(message, *about, **more)

    warnings.simplefilter("always", GlassformerWarning)
    warnings.showwarning = show


def _last_words(error: BaseException, lang: str) -> tuple[str, int]:
    """One line in the chosen language, and the exit code."""
    match error:
        case GlassformerError():
            return error.in_language(lang), 2 if isinstance(error, UsageError) else 1
        case KeyboardInterrupt():
            return say("errors.interrupted", lang), 1
        case OSError():
            if error.filename is None:
                _discard_output()
            return say("errors.disk", lang, path=error.filename or "stdout", why=error.strerror or str(error)), 1
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return say("errors.unexpected", lang, what=what), 1


def _discard_output() -> None:
    """Discard what is still in the buffer: writing it again would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _language(argv: Sequence[str]) -> str:
    """--lang ko or --lang=ko, anywhere in the arguments; else the locale."""
    given = None
    for word, after in _pairs(argv):
        if word == "--":
            break
        if word == "--lang":
            given = after
        elif word.startswith("--lang="):
            given = word.removeprefix("--lang=")
    if given == "both" and "report" in argv:  # the only command that writes both
        return language()
    if given is not None and given not in LANGUAGES:
        raise UsageError("bad_lang", given=given or '""')
    return given or language()


def _pairs(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every argument with the one after it."""
    return zip(argv, [*argv[1:], ""], strict=False)


def _fail(line: str, code: int) -> NoReturn:
    sys.stderr.write(one_line(line))
    sys.exit(code)


def _run(argv: list[str]) -> int:
    import typer

    from glassformer.cli.commands import whole_command

    try:
        from typer import TyperException as Complaint
    except ImportError:  # an older Typer raises click's own
        from click import ClickException as Complaint  # type: ignore[assignment]

    group = whole_command()
    group._main_shell_completion({}, "glassformer")  # if a shell asks for completions: answers, and exits
    try:
        # Not group.main(), which has its own exit codes for Ctrl-C and a closed pipe.
        with group.make_context("glassformer", argv or ["--help"]) as context:
            result = group.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort as stop:
        raise KeyboardInterrupt from stop
    except Complaint as error:
        raise _usage(error, argv, sorted(group.commands)) from error
    return result if isinstance(result, int) else 0


def _usage(error: Any, argv: list[str], commands: list[str]) -> UsageError:
    """Typer's error in our words and in the chosen language."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    command = next((word for word in argv if word in commands), "")
    match type(error).__name__:
        case "NoSuchOption":
            parameters = context.command.params if context else []
            known = [option for each in parameters if each.param_type_name == "option" for option in each.opts]
            hint = suggest(error.option_name, known)
            return UsageError("usage_unknown_option", option=error.option_name, hint=hint, command=command)
        case "MissingParameter":
            return UsageError(
                "usage_missing", name=(parameter.name or "").upper() if parameter else "", command=command
            )
        case "BadParameter" if parameter:
            name, expected = parameter.opts[0], Phrase(f"expected.{_type_name(parameter)}")
            return UsageError("usage_bad_value", name=name, value=_given(name, argv), expected=expected)
        case "BadOptionUsage" if "does not take a value" in str(error):
            hint = Phrase("hints.did_you_mean", (("name", error.option_name),))
            given = f"{error.option_name}={_given(error.option_name, argv)}"
            return UsageError("usage_unknown_option", option=given, hint=hint, command=command)
        case "BadOptionUsage":
            return UsageError("usage_missing", name=f"{error.option_name} …", command=command)
    return _usage_without_class(str(error), context, command, commands)


def _usage_without_class(message: str, context: Any, command: str, commands: list[str]) -> UsageError:
    """The errors of Typer that differ only in their text."""
    if "No such command" in message:
        word = message.split("'")[1]
        return UsageError("usage_unknown_command", command=word, hint=suggest(word, commands))
    if "Missing command" in message:
        return UsageError("usage_missing", name="COMMAND", command="")
    if "unexpected extra argument" in message:
        given = message[message.index("(", message.index(" (")) + 1 : -1]
        words = [each.name.upper() for each in context.command.params if each.param_type_name == "argument"]
        expected = " ".join(["glassformer", command, *('"TEXT"' if word == "TEXT" else word for word in words)])
        return UsageError("usage_extra", command=command, given=given, expected=expected)
    return UsageError("usage_other", message=message)


def _type_name(parameter: Any) -> str:
    described = getattr(parameter, "type_descriptor", None)  # an older Typer has click's types
    name = described.annotation.__name__ if described else parameter.type.name
    return {"integer": "int", "int": "int", "float": "float", "boolean": "bool", "bool": "bool"}.get(name, "str")


def _given(option: str, argv: list[str]) -> str:
    """The value that was given for the option, for the message."""
    for word, after in _pairs(argv):
        if word == option:
            return after
        if word.startswith(f"{option}="):
            return word.removeprefix(f"{option}=")
    return ""
