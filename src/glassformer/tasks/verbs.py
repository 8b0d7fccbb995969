"""What the everyday verbs share: refusing a model made for another verb, and answers that print as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, TypeVar

from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.show import Column, ColumnKind, Table, as_text
from glassformer.words import say

NO_TASK = {"features": "embed"}  # an imported model without a head


def check_verb(loaded: Loaded, verb: str) -> None:
    """Raises if the model was not made for this verb; the message names its task and the verb that fits."""
    fits = verb_of(loaded.task)
    if fits != verb:
        raise InputError("wrong_verb", model=loaded.folder.name, task=loaded.task, verb=verb, fits=fits)


def verb_of(task: str) -> str:
    """The everyday verb of a task; "trace", which fits any model, if there is none."""
    from glassformer.tasks import TASKS  # here, because those modules import this one

    return TASKS[task].verb if task in TASKS else NO_TASK.get(task, "trace")


# --- answers ---


class Answer(Protocol):
    """One answer: the keys of its columns under `answers` in words/, and its lines."""

    columns: ClassVar[tuple[str, ...]]

    def lines(self) -> list[list[str]]: ...


T = TypeVar("T", bound=Answer)


class Answers(list[T]):
    """A list that prints as a table."""

    def __rich__(self) -> Table:
        return answers_table(self)

    def __repr__(self) -> str:
        return as_text(answers_table(self))

    def _repr_html_(self) -> str:
        return answers_table(self).to_html()


KINDS: dict[str, ColumnKind] = {
    "mask": "number",
    "word": "name",
    "label": "name",
    "probability": "number",
}  # others: text


def answers_table(answers: Sequence[Answer], lang: str | None = None) -> Table:
    """All answers, with one or more lines each."""
    keys = answers[0].columns if answers else ()
    made = Table(*(Column(say(f"answers.{key}", lang), KINDS.get(key, "text")) for key in keys), lang=lang)
    for one in answers:
        for cells in one.lines():
            made.add(*cells)
    return made
