"""How an evaluation is made: what a person may choose, and whom it tells how far it has come."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from glassformer.tasks.translation.translate import SearchOptions

Progress = Callable[[int, int], None]  # (examples done, examples in all)
APART = ("long",)  # longer than anything trained on: reported as it comes out, not part of the main number


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """`search` and `forensics` are for tasks that say sentences."""

    search: SearchOptions = SearchOptions()
    forensics: bool = False
    progress: Progress = lambda done, total: None


def set_apart(groups: Collection[str]) -> tuple[str, ...]:
    """The groups that do not enter the number of the whole; one that stands alone is the whole."""
    return tuple(name for name in APART if name in groups and len(groups) > 1)
