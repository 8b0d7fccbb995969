"""Output that may vanish during hours of work: a terminal that is closed, a pipe whose reader has gone."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast


class Lasting(io.TextIOBase):
    """Passes text on to a stream until writing fails; from then on text is dropped and the work goes on.

    rich would end the program at a closed pipe and raise at a closed terminal, also while it redraws a bar.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        try:
            self.stream.write(text)
        except OSError:
            self._let_go()
        return len(text)

    def flush(self) -> None:
        try:
            self.stream.flush()
        except OSError:
            self._let_go()

    def isatty(self) -> bool:
        return self.stream.isatty()

    def fileno(self) -> int:
        return self.stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has an attribute; io's own cannot be set
        return self.stream.encoding

    def _let_go(self) -> None:
        """Point the file descriptor at /dev/null, where the rest of the buffer is written."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, self.stream.fileno())
        finally:
            os.close(nowhere)


@contextmanager
def lasting() -> Iterator[None]:
    """Inside this block no print, no bar and no warning can end the work."""
    out, err = (cast(Any, Lasting(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield
