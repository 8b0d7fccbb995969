"""The picture of mlm_masking: the four shares beside what was said, and the first of them by length of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, lines
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES = ("chosen", "masked", "random", "kept")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Bars with intervals; a curve with its band."""
    figure = theme.figure(10, 4)
    left, right = figure.subplots(1, 2)
    groups = {words("said"): [data["said"][name] for name in SHARES], words("counted"): []}
    groups[words("counted")] = [data["long"][name]["value"] for name in SHARES]
    spread = {words("counted"): [(data["long"][name]["low"], data["long"][name]["high"]) for name in SHARES]}
    bars(left, theme, [words(name) for name in SHARES], groups, spread=spread, form=".1%")
    left.yaxis.set_major_formatter("{x:.0%}")
    left.set_title(words("shares"))
    rows = data["by_length"]
    curve = words("counted")
    lengths = [row["length"] for row in rows]
    lines(
        right,
        theme,
        lengths,
        {curve: [row["value"] for row in rows]},
        spread={curve: [(row["low"], row["high"]) for row in rows]},
        form=".1%",
    )
    right.axhline(data["said"]["chosen"], color=theme.vermilion, linestyle="--", label=words("said"))
    right.set_ylim(bottom=0)
    right.set_xticks(range(lengths[0], lengths[-1] + 1, 2))
    right.yaxis.set_major_formatter("{x:.0%}")
    right.set_title(words("by_length"))
    right.set_xlabel(words("length", longest=lengths[-1]))
    right.legend()
    return figure
