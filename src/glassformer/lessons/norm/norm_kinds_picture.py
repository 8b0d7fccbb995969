"""The picture of norm_kinds: loss and gap between the two modes, for each kind of norm and size of batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("layer", "rms", "batch", "batch_real")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Above the loss, below the gap."""
    figure = theme.figure(8.5, 6.4)
    labels = [words("size", n=row["size"]) for row in data["rows"]]
    for axes, name in zip(figure.subplots(2, 1), ("loss", "gap"), strict=True):
        groups = {words(kind): [row[kind][name]["mean"] for row in data["rows"]] for kind in KINDS}
        ends = {
            words(kind): [(row[kind][name]["low"], row[kind][name]["high"]) for row in data["rows"]] for kind in KINDS
        }
        bars(
            axes,
            theme,
            labels,
            groups,
            spread=None if any(None in end for each in ends.values() for end in each) else ends,
            form=".2f",
        )
        axes.set_title(words(name))
        axes.margins(y=0.12)
        axes.set_ylim(bottom=0.0)
        if name == "loss":
            axes.get_legend().remove()
        else:
            axes.legend(loc="upper right")
    return figure
