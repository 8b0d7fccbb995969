"""How an evaluation is made: what a person may choose, and whom it tells how far it has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from glassformer.evaluate.translate import Search

Progress = Callable[[int, int], None]  # (examples done, examples in all)


@dataclass(frozen=True, kw_only=True)
class How:
    """`search` and `forensics` are for tasks that say sentences."""

    search: Search = Search()
    forensics: bool = False
    progress: Progress = lambda done, total: None
