"""A user's own files, as a task takes them: its default recipe, how they are counted, and how they are described."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import Phrase

Described = Callable[[str, Any], Phrase]  # of a file or folder, and the options of its source


def _nothing_more(path: Path, known: Mapping[str, Any]) -> dict[str, Any]:
    """The recipe fits any file."""
    return {}


@dataclass(frozen=True, kw_only=True)
class OwnFiles:
    """What `glassformer train FILE` needs to know of a task.

    `recipe` is the default recipe, whose source is of the kind `source` and takes the path as its first option of
    `options`. `describe` says in one line how a file was read.
    `count` gives the number of examples and the fewest that must be held out; None if the source itself holds out.
    `fit` gives further keys, from the content of the file and the keys that are set already.
    """

    recipe: str
    describe: Described
    source: str = "files"
    options: Sequence[str] = ("train", "validation", "test")
    count: Callable[[Path], tuple[int, int]] | None = None
    fit: Callable[[Path, Mapping[str, Any]], dict[str, Any]] = _nothing_more


def count_labels(labels: Sequence[str]) -> tuple[int, int]:
    """At least one example of each label is held out."""
    return len(labels), len(set(labels))
