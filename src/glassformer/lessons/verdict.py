"""The four words of a verdict and the rule for each; every lesson judges by it.

confirmed: the interval lies on the claim's side.
refuted: it lies on the other side, or inside a bound stated beforehand within which an effect counts as none.
depends: some conditions confirm and others refute.
undecided: the interval covers both sides, so this experiment was too small to decide.

Documents and pages take their wording from `meanings` in words/LANG/lessons.toml.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

VerdictWord = Literal["confirmed", "refuted", "depends", "undecided"]
WORDS: tuple[VerdictWord, ...] = ("confirmed", "refuted", "depends", "undecided")
NAMED: dict[str, VerdictWord] = {
    "confirms": "confirmed",
    "refutes": "refuted",
    "open": "undecided",
}  # key of a sentence → word
NOTHING = "–"


@dataclass(frozen=True)
class Side:
    """One condition, or one reading, under which a claim is tested; all its parts must hold."""

    verdict: VerdictWord
    parts: Mapping[str, VerdictWord] = field(default_factory=dict)

    @classmethod
    def of(cls, found: VerdictWord | Mapping[str, VerdictWord]) -> Side:
        return cls(found) if isinstance(found, str) else cls(together(*found.values()), found)

    def to_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict, **({"parts": dict(self.parts)} if self.parts else {})}


Sides = Mapping[str, VerdictWord | Mapping[str, VerdictWord]]  # condition → word, or part of the claim → word


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim. `measured` fills the sentence of the claim in words/LANG/lessons/."""

    verdict: VerdictWord
    measured: Mapping[str, Any]
    sides: Mapping[str, Side] = field(default_factory=dict)

    @classmethod
    def of(cls, sides: VerdictWord | Sides, measured: Mapping[str, Any]) -> Verdict:
        """The verdict over all conditions, or the one word of a claim without conditions.

        `measured` also gets the names of the sides that confirm, refute or are undecided (`confirms`, `refutes`,
        `open`), and how many of them confirm: `held` of `asked`.
        """
        if isinstance(sides, str):
            return cls(sides, measured)
        found = {name: Side.of(side) for name, side in sides.items()}
        names = {
            key: listed(name for name, side in found.items() if side.verdict == word) for key, word in NAMED.items()
        }
        held = sum(side.verdict == "confirmed" for side in found.values())
        word = over(side.verdict for side in found.values())
        return cls(word, {**measured, **names, "held": held, "asked": len(found)}, found)


# --- one number against one bound ---


def exact(holds: bool) -> VerdictWord:
    """For what is counted or proved: without chance nothing is undecided."""
    return "confirmed" if holds else "refuted"


def greater(effect: Mapping[str, Any], bound: float = 0.0) -> VerdictWord:
    """The claim says that the effect is above the bound; `effect` is an interval over seeds (see statistics.py).

    A single seed, or seeds with a missing number, have no interval: undecided.
    """
    if effect["low"] is None or effect.get("n") == 1:
        return "undecided"
    return "confirmed" if effect["low"] > bound else "refuted" if effect["high"] < bound else "undecided"


def less(effect: Mapping[str, Any], bound: float = 0.0) -> VerdictWord:
    """The claim says that the effect is below the bound."""
    opposite: dict[VerdictWord, VerdictWord] = {
        "confirmed": "refuted",
        "refuted": "confirmed",
        "undecided": "undecided",
    }
    return opposite[greater(effect, bound)]


def within(effect: Mapping[str, Any], low: float, high: float) -> VerdictWord:
    """The claim says roughly how large the effect is: between two bounds stated beforehand."""
    return together(greater(effect, low), less(effect, high))


# --- several verdicts together ---


def together(*parts: VerdictWord) -> VerdictWord:
    """A claim with several parts: one refuted part refutes it; only all parts together confirm it."""
    if "refuted" in parts:
        return "refuted"
    return "confirmed" if all(part == "confirmed" for part in parts) else "undecided"


def over(sides: Iterable[VerdictWord]) -> VerdictWord:
    """A claim under several conditions. An undecided condition may turn out either way: if that could change the
    verdict, the verdict is undecided.
    """
    found = set(sides)
    if {"confirmed", "refuted"} <= found:
        return "depends"
    return found.pop() if len(found) == 1 else "undecided"


def listed(names: Iterable[str]) -> str:
    """Names joined for a sentence: "2, 6, 12"."""
    return ", ".join(names) or NOTHING
