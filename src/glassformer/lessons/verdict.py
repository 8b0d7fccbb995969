"""The four words of a verdict, and the one rule that leads to them. Every lesson judges with what stands here.

confirmed: the interval lies on the claim's side.
refuted: it lies on the other side, or inside a bound stated beforehand within which an effect counts as none.
depends: some conditions confirm and others refute.
undecided: the interval holds both, so this experiment was too small to say.

What people read are the same sentences under `meanings` in words/LANG/lessons.toml; documents and pages take them
from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Word = Literal["confirmed", "refuted", "depends", "undecided"]
WORDS: tuple[Word, ...] = ("confirmed", "refuted", "depends", "undecided")
NOTHING = "–"


@dataclass(frozen=True)
class Side:
    """One condition, or one reading, under which a claim is asked; all its parts must hold on it."""

    verdict: Word
    parts: Mapping[str, Word] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict, **({"parts": dict(self.parts)} if self.parts else {})}


@dataclass(frozen=True)
class Verdict:
    """What a measurement says about a claim. `measured` fills the sentence of the claim in words/LANG/lessons/."""

    verdict: Word
    measured: Mapping[str, Any]
    sides: Mapping[str, Side] = field(default_factory=dict)


# --- one number against one bound ---


def exact(holds: bool) -> Word:
    """Of what is counted or proved: no chance is in it, so nothing stays undecided."""
    return "confirmed" if holds else "refuted"


def greater(effect: Mapping[str, Any], bound: float = 0.0) -> Word:
    """The claim says that the effect is above the bound; `effect` is an interval over seeds (see statistics.py).

    One seed has no interval, and neither have seeds of which one has no number: they decide nothing.
    """
    if effect["low"] is None or effect.get("n") == 1:
        return "undecided"
    return "confirmed" if effect["low"] > bound else "refuted" if effect["high"] < bound else "undecided"


def less(effect: Mapping[str, Any], bound: float = 0.0) -> Word:
    """The claim says that the effect is below the bound."""
    opposite: dict[Word, Word] = {"confirmed": "refuted", "refuted": "confirmed", "undecided": "undecided"}
    return opposite[greater(effect, bound)]


def within(effect: Mapping[str, Any], low: float, high: float) -> Word:
    """The claim says that the effect is about so large: between two bounds that were stated beforehand."""
    return together(greater(effect, low), less(effect, high))


# --- several of them ---


def together(*parts: Word) -> Word:
    """A sentence that says several things: one that is refuted refutes it, and it is confirmed by all of them."""
    if "refuted" in parts:
        return "refuted"
    return "confirmed" if all(part == "confirmed" for part in parts) else "undecided"


def over(sides: Iterable[Word]) -> Word:
    """A claim under several conditions. What is still undecided counts as either: where it could change the verdict,
    the verdict is undecided.
    """
    found = set(sides)
    if {"confirmed", "refuted"} <= found:
        return "depends"
    return found.pop() if len(found) == 1 else "undecided"


def judged(sides: Mapping[str, Word | Mapping[str, Word]], measured: Mapping[str, Any]) -> Verdict:
    """The verdict over all sides. `measured` gets their names by word, `confirms`, `refutes` and `open`, and how many
    confirm it of how many: `held` and `asked`.
    """
    found = {name: _side(side) for name, side in sides.items()}
    names = {
        key: listed(name for name, side in found.items() if side.verdict == word)
        for key, word in (("confirms", "confirmed"), ("refutes", "refuted"), ("open", "undecided"))
    }
    held = sum(side.verdict == "confirmed" for side in found.values())
    return Verdict(
        over(side.verdict for side in found.values()), {**measured, **names, "held": held, "asked": len(found)}, found
    )


def _side(side: Word | Mapping[str, Word]) -> Side:
    return Side(side) if isinstance(side, str) else Side(together(*side.values()), side)


def listed(names: Iterable[str]) -> str:
    """For a sentence: "2, 6, 12"."""
    return ", ".join(names) or NOTHING
