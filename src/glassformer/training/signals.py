"""Ctrl-C, SIGTERM, and SIGHUP when a terminal is closed: training finishes its step, saves, and reports it.

A second signal stops it at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

KNOWN = ("", "interrupted", "terminated")
REASONS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "terminated"}


class Asked:
    """Why training should stop; "" as long as no signal has come."""

    reason: str = ""

    @property
    def code(self) -> int:
        """The reason as a number, as ranks tell it to each other; 0: none."""
        return KNOWN.index(self.reason)


@contextmanager
def listening() -> Iterator[Asked]:
    """Inside, signals are noted instead of obeyed. Only the main thread can listen."""
    asked = Asked()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = {number: signal.getsignal(number) for number in REASONS}
    if before[signal.SIGHUP] == signal.SIG_IGN:  # `nohup glassformer train …` goes on
        del before[signal.SIGHUP]

    def note(number: int, frame: FrameType | None) -> None:
        asked.reason = REASONS[signal.Signals(number)]
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, note)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
