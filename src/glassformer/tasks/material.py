"""The material of tasks that read text: the vocabulary goes into the run folder, the rest is read again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from glassformer.data.examples import Examples
from glassformer.recipe import RunConfig
from glassformer.runs import Run
from glassformer.tasks.task import Task
from glassformer.text import Vocabularies


@dataclass(frozen=True, kw_only=True)
class TextMaterial:
    """See `Material`."""

    config: RunConfig
    task: Task[Any]
    training: Examples
    validation: Examples | None
    vocabularies: Vocabularies

    def fill(self, run: Run) -> None:
        self.vocabularies.save(run.folder)


def longest(config: RunConfig, extra_tokens: int) -> int:
    """How many tokens of a text have room: as the recipe says, or what the table of positions holds beside a frame."""
    return min(config.data.max_length, config.model.max_len - extra_tokens)
