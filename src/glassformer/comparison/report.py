"""What a comparison found: the first tap that differs, how the difference grows from there, and the answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from glassformer.comparison.difference import AnswerDifference, Difference, Parting, Shape
from glassformer.errors import Phrase
from glassformer.show import Column, ColumnKind, Sheet, Styled, Table, as_html, as_text
from glassformer.words import language, say

MOST_ROWS = 12  # in the table; --json has every tap
STATION = re.compile(r"(^|\.)blocks\.\d+\.output$|^(encoder|decoder)\.(input|output)$|^head\.")
COLUMNS = ("tap", "shape", "largest", "relative")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two models on the same inputs, tap by tap in the order of A's pass. Prints as a table.

    `taps`: those that both have in the same shape. `matched`: B is another library's model, and only the taps that
    its modules show are compared. `tolerance` is relative; see `Difference`.
    """

    a: str
    b: str
    tolerance: float
    matched: bool
    inputs: Shape
    counts: tuple[int, int]  # taps of A, and of B
    taps: tuple[Difference, ...]
    parting: Parting | None = None
    answers: AnswerDifference | None = None
    notes: tuple[Phrase, ...] = ()

    @property
    def first(self) -> Difference | None:
        """The first tap that differs by more than the tolerance."""
        return next((tap for tap in self.taps if tap.beyond(self.tolerance)), None)

    @property
    def worst(self) -> Difference:
        return max(self.taps, key=lambda tap: tap.relative)

    @property
    def identical(self) -> bool:
        """The same structure, and every number equal."""
        return not self.matched and self.parting is None and all(tap.largest == 0.0 for tap in self.taps)

    @property
    def same(self) -> bool:
        """Nothing differs by more than the tolerance, and the structures do not part."""
        return self.first is None and self.parting is None

    def growth(self) -> list[Difference]:
        """The taps of the stream from the first difference to the end, at most as many as fit on a screen."""
        first = self.first
        if first is None:
            return []
        behind = self.taps[self.taps.index(first) + 1 :]
        stations = [tap for tap in behind if STATION.search(tap.tap)]
        few = MOST_ROWS - 1
        if len(stations) > few:  # evenly, the last one included
            stations = [stations[(i + 1) * len(stations) // few - 1] for i in range(few)]
        return [first, *stations]

    def to_json(self) -> dict[str, Any]:
        first = self.first
        return {
            "a": self.a,
            "b": self.b,
            "identical": self.identical,
            "same": self.same,
            "tolerance": self.tolerance,
            "matched": self.matched,
            "inputs": list(self.inputs),
            "counts": {"a": self.counts[0], "b": self.counts[1], "compared": len(self.taps)},
            "first": None if first is None else first.to_json(),
            "parting": None if self.parting is None else self.parting.to_json(),
            "answers": None if self.answers is None else self.answers.to_json(),
            "notes": [note.say(language()) for note in self.notes],
            "taps": [tap.to_json() for tap in self.taps],
        }

    # --- display ---

    def _title(self) -> str:
        return say("compare.title", a=self.a, b=self.b, inputs=times(self.inputs))

    def _verdict(self) -> Iterator[str]:
        """The sentences above the table."""
        first, taps = self.first, len(self.taps)
        if self.identical:
            yield say("compare.identical", taps=taps)
        elif not self.matched and all(tap.largest == 0.0 for tap in self.taps):
            yield say("compare.shared", taps=taps)
        elif first is None:
            key = "compare.agree_matched" if self.matched else "compare.agree"
            worst = self.worst
            yield say(key, taps=taps, tolerance=f"{self.tolerance:g}", relative=short(worst.relative), tap=worst.tap)
        elif first is not None:
            before = self.taps.index(first)
            yield say("compare.first", tap=first.tap, shape=times(first.shape), before=before)
            where = "[" + ", ".join(map(str, first.at)) + "]"
            numbers = {"a": f"{first.a:.6g}", "b": f"{first.b:.6g}"}
            found = {"largest": short(first.largest), "relative": short(first.relative)}
            yield say("compare.at", at=where, **numbers, **found)
        if self.parting is not None:
            yield self._parting(self.parting)

    def _parting(self, found: Parting) -> str:
        def side(name: str, shape: Shape) -> str:
            return f"{name} ({times(shape)})" if name else say("compare.end")

        a, b = side(found.a, found.shape_a), side(found.b, found.shape_b)
        return say("compare.parting", number=found.number + 1, a=a, b=b)

    def _closing(self) -> Iterator[str]:
        """The sentences below it."""
        found = self.answers
        if found is not None and not self.identical:
            key = "compare.answers_differ" if found.changed else "compare.answers_same"
            yield say(key, changed=found.changed, total=found.total)
        yield from (note.say(language()) for note in self.notes)

    def shown(self) -> Sheet:
        """The answer, how the difference grows, and what it does to the model's answers."""
        kinds: tuple[ColumnKind, ...] = ("name", "name", "number", "number")
        table = Table(*(Column(say(f"compare.{key}"), kind) for key, kind in zip(COLUMNS, kinds, strict=True)))
        for tap in self.growth():
            table.add(tap.tap, times(tap.shape), short(tap.largest), short(tap.relative))
        title = Styled(self._title(), "bold")
        return Sheet(title, *self._verdict(), *([table] if table.rows else []), *self._closing())

    def __rich__(self) -> Sheet:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self.shown())


def times(shape: Shape) -> str:
    return "×".join(map(str, shape)) or "1"


def short(value: float) -> str:
    return "0" if value == 0.0 else f"{value:.2e}"
