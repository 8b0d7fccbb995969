"""Batches prepared ahead, in a thread of their own, while the accelerator computes; and how long it waited for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from queue import Empty, Full, Queue
from typing import Generic, TypeVar

T = TypeVar("T")
DEPTH = 4  # batches that wait
ENDING = 5.0  # seconds
PATIENCE = 0.1  # seconds between two looks at whether the other side is still there


class Ahead(Generic[T]):
    """The items of an iterator, in its order. Whatever it raises is raised where its item would have come."""

    def __init__(self, items: Iterator[T], depth: int = DEPTH) -> None:
        self.waited = 0.0  # seconds, in all
        self._items = items
        self._ready: Queue[T | BaseException] = Queue(depth)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._prepare, name="batches", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        began = time.monotonic()
        found = self._get()
        self.waited += time.monotonic() - began
        if isinstance(found, BaseException):
            raise found
        return found

    def close(self) -> None:
        """Stop preparing; the thread ends with the item it is at, which is waited for unless it takes long."""
        self._closed.set()
        self._thread.join(timeout=ENDING)

    def _get(self) -> T | BaseException:
        while True:
            try:
                return self._ready.get(timeout=PATIENCE)
            except Empty:
                if not self._thread.is_alive() and self._ready.empty():
                    return StopIteration()

    def _prepare(self) -> None:
        try:
            for item in self._items:
                if not self._put(item):
                    return
        except BaseException as error:
            self._put(error)

    def _put(self, item: T | BaseException) -> bool:
        while not self._closed.is_set():
            try:
                self._ready.put(item, timeout=PATIENCE)
            except Full:
                continue
            return True
        return False
