"""A Rust library that fails panics: that is no Exception, and it prints a message. Here it becomes an error."""

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
    except BaseException as error:  # a panic of the library is no Exception
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise PanicError(said[0]) from error


@contextmanager
def _silenced() -> Iterator[None]:
    """The library bypasses Python and writes to the process's standard error, which meanwhile leads nowhere."""
    with _LOCK:
        if sys.stderr is not None:
            sys.stderr.flush()
        try:
            kept = os.dup(STDERR)
        except OSError:  # it is closed: there is nothing to be kept quiet
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
