from __future__ import annotations

import signal
import threading

import pytest

from glassformer.training.signals import listening
from own_signals import send


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated"), (signal.SIGHUP, "terminated")],
)
def test_a_signal_is_noted_and_not_obeyed(number: signal.Signals, reason: str) -> None:
    before = signal.getsignal(number)
    with listening() as asked:
        assert asked.reason == ""
        send(number)
        assert asked.reason == reason
    assert signal.getsignal(number) is before


def test_nohup_stays_deaf() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with listening() as asked:
            send(signal.SIGHUP)
        assert asked.reason == "" and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_asked_twice_it_obeys() -> None:
    with pytest.raises(KeyboardInterrupt), listening():
        send(signal.SIGINT)
        send(signal.SIGINT)


def test_another_thread_cannot_listen() -> None:
    found: list[str] = []

    def run() -> None:
        with listening() as asked:
            found.append(asked.reason)

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [""] and signal.getsignal(signal.SIGINT) is before
