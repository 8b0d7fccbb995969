"""The picture of parts_that_matter: each part's share of the parameters beside what is lost without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import bars
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = ("attention", "feed_forward", "norm", "classifier")
WAYS = ("switched_off", "left_out")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Left: how large. Right: how much accuracy is left."""
    figure = theme.figure(10, 4)
    size, lost = figure.subplots(1, 2, width_ratios=(1, 1.9), sharey=True)
    labels = [words(part) for part in PARTS]
    bars(size, theme, labels, {words("share"): [data["share"][part] for part in PARTS]}, form=".2%", horizontal=True)
    size.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    size.margins(x=0.3)
    size.set_title(words("share"))
    groups = {words(way): [data[way][part]["accuracy"]["mean"] for part in PARTS] for way in WAYS}
    ends = {words(way): [_ends(data[way][part]["accuracy"]) for part in PARTS] for way in WAYS}
    bars(lost, theme, labels, groups, spread=ends, form=".0%", horizontal=True)
    lost.invert_yaxis()
    for value, name in ((data["full"]["accuracy"]["mean"], "full"), (data["chance"], "chance")):
        lost.axvline(value, color=theme.muted, linestyle=":", linewidth=1.4)
        lost.annotate(
            words(name, value=f"{value:.0%}"),
            (value, 1.0),
            (0, 2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8,
            color=theme.muted,
        )
    lost.set_xlim(0, 1.12)
    lost.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    lost.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
    lost.set_title(words("accuracy"), pad=18)
    return figure


def _ends(found: dict[str, Any]) -> tuple[float, float]:
    return max(0.0, found["low"]), min(1.0, found["high"])
