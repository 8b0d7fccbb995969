"""What a lesson runs with: its seeds, how much effort, the trained models, and someone who watches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from glassformer.lessons.lesson import SEEDS
from glassformer.lessons.trained_models import Watch, trained
from glassformer.loading import Loaded, load
from glassformer.runs import Run

T = TypeVar("T")


def nobody(what: str, share: float) -> None:
    """Nobody watches."""


@dataclass(frozen=True, kw_only=True)
class LessonSetup:
    """The argument of `Lesson.run`. Recorded results are made with the defaults.

    `effort` makes trainings and samples smaller: a test of the code needs no result. `models` names run folders to look
    into in place of those that the recipes give: a reader's own, or another one, to see whether the numbers change.
    """

    seeds: Sequence[int] = tuple(range(SEEDS))
    effort: float = 1.0
    models: Mapping[str, Path] = field(default_factory=dict)
    watch: Watch = nobody

    def some(self, full: int, least: int = 1) -> int:
        """`full` steps, samples … at full effort, fewer at less."""
        return max(least, round(full * self.effort))

    def folder(self, recipe: str) -> Path:
        """The run folder of a recipe, trained on first use."""
        return Path(self.models[recipe]) if recipe in self.models else trained(recipe, self.watch)

    def run(self, recipe: str) -> Run:
        """Its run: log, configuration, samples."""
        return Run.open(self.folder(recipe))

    def model(self, recipe: str) -> Loaded:
        """Its model with tokenizers, ready to use, on the CPU."""
        return load(self.folder(recipe), device="cpu")

    def each(self, what: str, items: Iterable[T]) -> Iterator[T]:
        """The items one by one; `watch` is told how far it is. `what` is a name, not a sentence."""
        listed = list(items)
        for number, item in enumerate(listed):
            self.watch(what, number / len(listed))
            yield item
        self.watch(what, 1.0)
