"""A user's own file or folder instead of a recipe: the default recipe of its task, with the file filled in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from glassformer.data.documents import HELD_OUT, read_documents
from glassformer.data.own import TABLES, is_own, possible_tasks
from glassformer.data.pairs import read_pairs
from glassformer.data.pictures import image_files
from glassformer.data.texts import read_texts
from glassformer.errors import FileError, InputError, Phrase, choose

RECIPES = {
    "translation": "own-translation",
    "classification": "own-classification",
    "language_model": "own-text",
    "masked_language_model": "own-gaps",
    "image_classification": "own-images",
    "forecasting": "own-series",
}
COUNTS: dict[str, Callable[[Path], tuple[int, int]]] = {  # (examples, the fewest that are held out)
    "translation": lambda path: (len(read_pairs(path)), 1),
    "classification": lambda path: _labels(read_texts(path).labels),
    "masked_language_model": lambda path: (len(read_documents(path, by_line=True)), 1),
    "image_classification": lambda path: _labels([name for name, files in image_files(path).items() for _ in files]),
}
LEAST = 10  # examples: with fewer there is nothing to learn from or to validate with
MOST_APART = 300
CONTEXT = 64  # of own-text
LEAST_TEXT = 200  # characters
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Own:
    """The recipe chosen for the data, and the keys set in it."""

    path: str
    task: str
    recipe: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The command in full, to be repeated or changed."""
        keys = [f"--set {shlex.quote(f'{key}={value}')}" for key, value in self.settings.items()]
        return " ".join(["glassformer train", self.recipe, *keys])


def own_recipe(path: str | Path, task: str = "", *, known: Mapping[str, Any] = NOTHING) -> Own | None:
    """The recipe for a file or folder of data; None for anything else. `known`: keys that are set already.

    A tenth of the examples, at most 300, is held out for validation.
    """
    place = Path(path)
    if not is_own(place):
        if place.suffix in (*TABLES, ".jsonl", ".txt") and not place.exists():
            raise FileError("data_no_file", path=path)
        return None
    chosen = task or _only_task(place)
    recipe = choose("task", chosen, RECIPES)
    settings: dict[str, Any] = {"run.name": re.sub(r"[^\w-]+", "-", place.name.split(".")[0]).strip("-") or "own"}
    settings["data.source.path" if chosen == "forecasting" else "data.source.train"] = str(path)
    told = {"data.source.columns", "data.source.header", "data.source.delimiter", "data.validation"} & set(known)
    if chosen in COUNTS and not told:
        count, apart = COUNTS[chosen](place)
        settings["data.validation"] = min(MOST_APART, max(apart, _enough(place, count, chosen) // 10))
    kept = {"data.source.by_line", "data.source.validation", "task.context"} & set(known)
    if chosen == "language_model" and not kept:
        settings |= _fitting_context(place)
    return Own(str(path), chosen, recipe, settings)


def _labels(labels: Sequence[str]) -> tuple[int, int]:
    """At least one example of each label is held out."""
    return len(labels), len(set(labels))


def _fitting_context(path: Path) -> dict[str, Any]:
    """The context for a text: its last tenth, if short, must still hold a window and the next character."""
    texts = read_documents(path)
    if len(texts) > 1:
        return {}
    if texts.characters < LEAST_TEXT:
        count, what = texts.characters, Phrase("own.what.characters")
        raise InputError("own_too_few", path=path, count=count, least=LEAST_TEXT, what=what)
    tail = int(texts.characters * HELD_OUT) - 1
    return {"task.context": tail} if tail < CONTEXT else {}


def _only_task(path: Path) -> str:
    found = possible_tasks(path)
    if len(found) == 1:
        return found[0]
    one, other = (f"glassformer train {shlex.quote(str(path))} --task {task}" for task in found)
    what_one, what_other = map(_what, found)
    raise InputError("own_two_things", path=path, one=one, other=other, what_one=what_one, what_other=what_other)


def _what(task: str) -> Phrase:
    return Phrase(f"own.what.{task}")


def _enough(path: Path, count: int, task: str) -> int:
    if count < LEAST:
        raise InputError("own_too_few", path=path, count=count, least=LEAST, what=_what(task))
    return count
