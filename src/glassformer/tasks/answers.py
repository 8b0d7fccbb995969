"""Answers that show themselves: a list is a table at the prompt, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, TypeVar

from glassformer.show import Column, Kind, Table, as_text
from glassformer.words import say


class Answer(Protocol):
    """One answer: the keys of its columns under `answers` in words/, and its lines."""

    columns: ClassVar[tuple[str, ...]]

    def lines(self) -> list[list[str]]: ...


T = TypeVar("T", bound=Answer)


class Answers(list[T]):
    """A list like any other; only its looks are different."""

    def __rich__(self) -> Table:
        return table(self)

    def __repr__(self) -> str:
        return as_text(table(self))

    def _repr_html_(self) -> str:
        return table(self).to_html()


KINDS: dict[str, Kind] = {"mask": "number", "word": "name", "label": "name", "probability": "number"}  # others: text


def table(answers: Sequence[Answer], lang: str | None = None) -> Table:
    """All of them, a line or several for each."""
    keys = answers[0].columns if answers else ()
    made = Table(*(Column(say(f"answers.{key}", lang), KINDS.get(key, "text")) for key in keys), lang=lang)
    for one in answers:
        for cells in one.lines():
            made.add(*cells)
    return made
