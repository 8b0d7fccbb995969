"""What evaluations of all tasks share: the groups of a split, their scores, and the table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.metrics.interval import Proportion
from glassformer.ranks import ALONE, Ranks
from glassformer.show import Column, Sheet, Table, as_html, as_text
from glassformer.tasks.search import SearchOptions
from glassformer.words import say

ExampleProgress = Callable[[int, int], None]  # (examples done, examples in all)
APART = ("long",)  # longer than all training examples: reported, but not part of the main number


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """`search` and `forensics` are for tasks that search for sentences."""

    search: SearchOptions = SearchOptions()
    forensics: bool = False
    progress: ExampleProgress = lambda done, total: None
    ranks: Ranks = ALONE


class Scores(Protocol):
    """The numbers of one group, of the task's own type."""

    def to_json(self) -> dict[str, Any]: ...


S = TypeVar("S", bound=Scores)
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation(ABC, Generic[S]):
    """A model judged on a split: the scores of each group, and of all together except those set `apart`.

    Prints as a table; `to_json()` is what `--json` prints. `readings`: how often this run was scored on this split,
    this time included; 0: not counted. `hypotheses`: the model's answers, a line for each example, group by group.
    """

    folder: Path
    checkpoint: str
    split: str
    readings: int = 1  # counted by `evaluate`, for every task
    total: S
    groups: Mapping[str, S]
    apart: tuple[str, ...] = ()
    hypotheses: Mapping[str, list[str]] = field(default_factory=dict)

    # --- as JSON ---

    def to_json(self) -> dict[str, Any]:
        return {**self.total.to_json(), **self.where, **self.by_group}

    @property
    def where(self) -> dict[str, Any]:
        """Which weights were judged, on which data."""
        return {
            "run": str(self.folder),
            "checkpoint": self.checkpoint,
            "split": self.split,
            "readings": self.readings,
        }

    @property
    def by_group(self) -> dict[str, Any]:
        return {"groups": {name: one.to_json() for name, one in self.groups.items()}, "apart": list(self.apart)}

    @property
    def kept(self) -> dict[str, Any]:
        """What evaluations.jsonl records, besides the split and the checkpoint."""
        return self.total.to_json()

    # --- as a table ---

    @abstractmethod
    def shown(self, lang: str | None = None) -> Sheet:
        """Tables, then what the numbers mean; by default in the language of the process."""

    def table(self, columns: Sequence[Column], cells: Callable[[S], list[str]], lang: str | None) -> Table:
        """A line for each group, then the main one; a single group is the split itself."""
        made = Table(*columns, title=self.title(lang), lang=lang)
        if len(self.groups) == 1:
            made.total(self.split, *cells(self.total))
            return made
        for name, scores in self.groups.items():
            made.add(name, *cells(scores))
        every = say("judge.all_but", lang, apart=", ".join(self.apart)) if self.apart else say("judge.all", lang)
        made.total(every, *cells(self.total))
        return made

    def title(self, lang: str | None) -> str:
        return say("judge.title", lang, run=self.folder.name, split=self.split, checkpoint=self.checkpoint)

    def reading_notes(self, lang: str | None) -> list[str]:
        """Which groups are set apart, and how often the split was read: the last lines below every table."""
        apart = [say("judge.apart", lang, apart=", ".join(self.apart))] if self.apart else []
        if not self.readings:  # a model of the package, in whose folder nothing is recorded
            return apart
        read = "judge.test_read" if self.split == "test" else "judge.read"
        return [*apart, say(read, lang, count=self.readings, split=self.split)]

    def __rich__(self) -> Sheet:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self.shown())


def percent(share: Proportion | None, places: int = 1) -> str:
    """A proportion with its interval, in percent; a dash if there is none."""
    if share is None:
        return "–"
    value, low, high = (f"{100 * end:.{places}f}" for end in (share.value, share.low, share.high))
    return f"{value} [{low}–{high}]"


def number_columns(
    keys: Sequence[str], named: Callable[[str], str], dropped: Mapping[str, int] | None = None
) -> list[Column]:
    """The columns of a table: a name, then numbers. `dropped`: the order in which columns give way."""
    first, *others = keys
    return [
        Column(named(first), "name"),
        *(Column(named(key), "number", (dropped or {}).get(key, 0)) for key in others),
    ]


# --- going through a split ---


def set_apart(groups: Collection[str]) -> tuple[str, ...]:
    """The groups that do not count towards the main number; a single group always counts."""
    return tuple(name for name in APART if name in groups and len(groups) > 1)


@dataclass(frozen=True)
class Groups(Generic[T]):
    """The groups of a split that are not empty."""

    every: dict[str, T]

    @classmethod
    def of(cls, loaded: Loaded, split: str, groups: Mapping[str, T], size: Callable[[Any], int] = len) -> Groups[T]:
        """Leaves out empty groups; raises if all are empty."""
        found = {name: some for name, some in groups.items() if size(some)}
        if not found:
            raise InputError("split_empty", split=split, path=loaded.folder)
        return cls(found)

    @property
    def apart(self) -> tuple[str, ...]:
        return set_apart(self.every)

    @property
    def main(self) -> list[str]:
        """The names of those that count towards the main number."""
        return [name for name in self.every if name not in self.apart]


def computed(
    orders: Mapping[str, Sequence[int]],
    size: int,
    options: EvaluationOptions,
    compute: Callable[[str, list[int]], R],
) -> Iterator[tuple[str, list[int], R]]:
    """What `compute` finds for the examples of each group, `size` at a time, in their order, with their numbers.

    Of several ranks each computes its share, and all get everything; it is sent from host to host.
    """
    pieces = [
        (name, [int(i) for i in order[first : first + size]])
        for name, order in orders.items()
        for first in range(0, len(order), size)
    ]
    ranks, every, done, mine = options.ranks, sum(map(len, orders.values())), 0, list[R]()
    for number, (name, piece) in enumerate(pieces):
        if number % ranks.world == ranks.rank:
            found = compute(name, piece)
            if ranks.joined:
                mine.append(found)
            else:
                yield name, piece, found
        done += len(piece)
        options.progress(done, every)
    if ranks.joined:
        told = ranks.gather(mine)
        for number, (name, piece) in enumerate(pieces):
            yield name, piece, told[number % ranks.world][number // ranks.world]
