"""A command as a person types it, but in this process: one of its own would take seconds for its imports."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from glassformer.cli.app import main

Run = Callable[..., tuple[int, str, str]]


def typed(*words: str) -> Run:
    """A function of capsys and the further words of a command; it returns exit code, stdout and stderr."""

    def run(capsys: pytest.CaptureFixture[str], *more: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([*words, *map(str, more)])
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return run
