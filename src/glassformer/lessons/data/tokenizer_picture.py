"""The picture of tokenizer: lengths of sentences, kinds of tokenizer, and what more merges bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, lines, logarithmic
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LANGUAGES = ("ko", "en")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Histogram above, kinds and merges below."""
    figure = theme.figure(9, 7)
    panels = figure.subplot_mosaic([["lengths", "lengths"], ["kinds", "merges"]])
    left, right = panels["kinds"], panels["merges"]
    _lengths(panels["lengths"], data, theme, words)
    kinds = list(data["kinds"])
    groups = {words(lang): [data["kinds"][kind]["mean"][lang] for kind in kinds] for lang in LANGUAGES}
    bars(left, theme, [words(f"kind_{kind}") for kind in kinds], groups, form=".1f")
    left.set_title(words("kinds"))
    sizes = [row["vocab_size"] for row in data["merges"]]
    lines(right, theme, sizes, {words(lang): [row[lang] for row in data["merges"]] for lang in LANGUAGES}, form=".1f")
    logarithmic(right, "x", base=2)
    right.set_ylim(bottom=0)
    right.set_title(words("merges"))
    right.set_xlabel(words("vocab_size"))
    return figure


def _lengths(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    """Side by side, a bar for each length and language."""
    counts = data["kinds"]["bpe"]["counts"]
    longest = max(len(counts[lang]) for lang in LANGUAGES)
    for number, lang in enumerate(LANGUAGES):
        shares = [count / sum(counts[lang]) for count in counts[lang]]
        places = [length + (number - 0.5) * 0.42 for length in range(len(shares))]
        drawn = axes.bar(places, shares, 0.4, color=theme.series[number], label=words(lang))
        for length, bar in enumerate(drawn):
            hover(bar, f"{words(lang)} · {length}: {shares[length]:.1%}")
    axes.set_xlim(0, min(longest, 36))
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.set_title(words("lengths"))
    axes.set_xlabel(words("tokens"))
    axes.grid(visible=False, axis="x")
    axes.legend()
