"""What many lessons ask for alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from glassformer.data import grammar

DRAWN: dict[str, list[Any]] = {}  # for all lessons of a process


def remembered(draw: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    def again(*arguments: Any, **keys: Any) -> list[Any]:
        question = repr((draw.__name__, arguments, keys))
        if question not in DRAWN:
            DRAWN[question] = draw(*arguments, **keys)
        return list(DRAWN[question])

    return again


@pytest.fixture(autouse=True, scope="module")
def _sentences_drawn_once() -> Iterator[None]:
    """Lessons train on the same recipes: the grammar draws their sentences once in a process, not once a lesson.

    Between two modules the grammar is itself again: tests of the grammar may come next, and it must draw for them.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("pairs", "labelled"):
            patch.setattr(grammar, name, remembered(getattr(grammar, name)))
        yield
