"""Panics of Rust libraries, which are not Exceptions and print a message, turned into errors."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from glassformer.errors import GlassformerError

T = TypeVar("T")
STDERR = 2
_LOCK = threading.RLock()


class PanicError(Exception):
    """What the library said, in one line."""


def contained(make: Callable[[], T]) -> T:
    """What `make` returns, or a PanicError; nothing is printed in either case."""
    try:
        with _silenced():
            return make()
    except (GlassformerError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # a panic of the library is not an Exception
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise PanicError(said[0]) from error


@contextmanager
def _silenced() -> Iterator[None]:
    """Inside, the process's standard error leads nowhere: the library writes to it without Python."""
    with _LOCK:
        if sys.stderr is not None:
            sys.stderr.flush()
        try:
            kept = os.dup(STDERR)
        except OSError:  # it is closed, so nothing can be printed
            yield
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, STDERR)
            yield
        finally:
            os.dup2(kept, STDERR)
            os.close(kept)
            os.close(nowhere)
