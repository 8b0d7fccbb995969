"""Signals that a test sends to its own process, told from those that are meant for the suite.

A training takes the first signal as a wish to save and stop. Without this, Ctrl-C or a time limit on the suite that
came during a training in a test was lost: the suite went on, and the test failed because its run had ended early.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
inbox, outbox = os.pipe()  # Python writes the number of each signal that it handles
os.set_blocking(inbox, False)
os.set_blocking(outbox, False)
os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))  # a child's signals are its own
sent: Counter[int] = Counter()


def send(number: signal.Signals) -> None:
    """To this process."""
    sent[number] += 1
    os.kill(os.getpid(), number)


@contextmanager
def from_outside() -> Iterator[list[signal.Signals]]:
    """Afterwards the list holds the signals to stop that came inside and were not sent by `send`."""
    found: list[signal.Signals] = []
    sent.clear()
    before = signal.set_wakeup_fd(outbox, warn_on_full_buffer=False)
    try:
        yield found
    finally:
        signal.set_wakeup_fd(before)
        try:
            came = Counter(os.read(inbox, 1 << 16))
        except BlockingIOError:  # none came
            came = Counter()
        found += [number for number in TO_STOP if came[number] > sent[number]]
