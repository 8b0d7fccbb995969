"""The recipes of the package as a list: task, requirements, and training time where it was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from glassformer.bench.record import recorded_results
from glassformer.config.recipe import RunConfig
from glassformer.errors import Phrase
from glassformer.loading import open_recipe, recipes
from glassformer.sharing.licences import OWN, catalogue_names

EXTRAS = {"digits": "images", "canvases": "images", "prices": "prices", "folder": "images"}  # source → extra to install
TIMED = ("translation", "tasks")  # benchmarks that train recipes


@dataclass(frozen=True)
class Known:
    """One recipe. `seconds`: recorded time of a whole training; None: not recorded."""

    name: str
    task: str
    source: str
    sets: tuple[str, ...]  # names in the catalogue
    extra: str
    seconds: float | None
    cores: int = 0
    accelerator: str = ""

    @property
    def needs(self) -> Phrase | str:
        """What the user must install or provide first; "": nothing."""
        if self.source in OWN:
            return Phrase("recipes.own_images" if self.extra else "recipes.own")
        if self.sets:
            return Phrase("recipes.sets", (("names", ", ".join(self.sets)),))
        return Phrase("recipes.extra", (("extra", self.extra),)) if self.extra else ""

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "sets": list(self.sets)}


def known() -> list[Known]:
    """All recipes, by name."""
    times = dict(_times())
    return [_row(name, open_recipe(name), times) for name in recipes()]


def _row(name: str, config: RunConfig, times: dict[str, tuple[float, int, str]]) -> Known:
    source = config.data.source
    tested = (each.partition("/")[0] for each in source.options.get("beyond", ()))
    sets = tuple(dict.fromkeys([*catalogue_names(source), *tested]))
    seconds, cores, accelerator = times.get(name, (None, 0, ""))
    return Known(name, config.task.kind, source.kind, sets, EXTRAS.get(source.kind, ""), seconds, cores, accelerator)


def _times() -> Iterator[tuple[str, tuple[float, int, str]]]:
    """Time, cores, accelerator by recipe; results without an accelerator come last and win: most people have none."""
    for name in TIMED:
        for result in sorted(recorded_results(name), key=lambda each: not each.machine["accelerator"]):
            for row in result.numbers["rows"]:
                if row.get("seconds"):
                    yield row["recipe"], (row["seconds"], result.machine["cores"], result.machine["accelerator"])
