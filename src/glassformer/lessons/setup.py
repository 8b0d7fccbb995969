"""What a lesson runs with: its seeds, the effort, the trained models, and a progress callback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from glassformer.lessons.lesson import SEEDS
from glassformer.lessons.trained_models import Watch, trained
from glassformer.loading import Loaded, load, trained_folders
from glassformer.runs import Run

T = TypeVar("T")


def nobody(what: str, share: float) -> None:
    """A `watch` that ignores progress."""


@dataclass(frozen=True, kw_only=True)
class LessonSetup:
    """The argument of `Lesson.run`. Recorded results are made with the defaults.

    `effort` below 1 makes trainings and samples smaller, for tests of the code. `models` names run folders to use in
    place of those of the package and the recipes, for example a reader's own, to see whether the numbers change.
    """

    seeds: Sequence[int] = tuple(range(SEEDS))
    effort: float = 1.0
    models: Mapping[str, Path] = field(default_factory=dict)
    watch: Watch = nobody

    def some(self, full: int, least: int = 1) -> int:
        """`full` steps or samples at full effort, fewer at less."""
        return max(least, round(full * self.effort))

    def folder(self, name: str) -> Path:
        """The trained model of the package; if it has none of this name, the recipe's run, trained on first use."""
        return self._own(name) or trained_folders().get(name) or trained(name, self.watch)

    def run(self, recipe: str) -> Run:
        """The run of a recipe, trained on first use: log, configuration, samples."""
        return Run.open(self._own(recipe) or trained(recipe, self.watch))

    def _own(self, name: str) -> Path | None:
        return Path(self.models[name]) if name in self.models else None

    def model(self, name: str) -> Loaded:
        """A trained model with its tokenizers, ready to use, on the CPU."""
        return load(self.folder(name), device="cpu")

    def each(self, what: str, items: Iterable[T]) -> Iterator[T]:
        """The items one by one; reports progress to `watch`. `what` is a name, not a sentence."""
        listed = list(items)
        for number, item in enumerate(listed):
            self.watch(what, number / len(listed))
            yield item
        self.watch(what, 1.0)
