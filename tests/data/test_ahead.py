from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from glassformer.data.ahead import Ahead


def test_items_come_in_order_and_then_end() -> None:
    assert list(Ahead(iter(range(50)), depth=3)) == list(range(50))


def test_no_more_is_prepared_than_asked() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for i in range(100):
            made.append(i)
            yield i

    ahead = Ahead(items(), depth=2)
    assert next(ahead) == 0
    time.sleep(0.2)
    assert len(made) <= 4  # one taken, two that wait, one in hand
    ahead.close()


def test_an_error_comes_where_its_item_would_have_come() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("two")

    ahead = Ahead(items())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="two"):
        next(ahead)


def test_waiting_is_measured() -> None:
    def items() -> Iterator[int]:
        time.sleep(0.15)
        yield 1

    ahead = Ahead(items())
    next(ahead)
    assert 0.1 < ahead.waited < 5.0


def test_closing_ends_the_thread() -> None:
    ahead = Ahead(iter(range(1000)), depth=1)
    next(ahead)
    ahead.close()
    deadline = time.monotonic() + 5
    while any(thread.name == "batches" and thread.is_alive() for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
