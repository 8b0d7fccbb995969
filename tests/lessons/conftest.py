"""What many lessons ask for alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from glassformer.data import grammar


def remembered(draw: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    found: dict[str, list[Any]] = {}

    def again(*arguments: Any, **keys: Any) -> list[Any]:
        question = repr((arguments, keys))
        if question not in found:
            found[question] = draw(*arguments, **keys)
        return list(found[question])

    return again


@pytest.fixture(autouse=True, scope="session")
def _sentences_drawn_once() -> Iterator[None]:
    """Lessons train on the same recipes: the grammar draws their sentences once in a process, not once a lesson."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("pairs", "labelled"):
            patch.setattr(grammar, name, remembered(getattr(grammar, name)))
        yield
