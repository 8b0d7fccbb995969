"""The picture of ffn_memory: what is still right, facts beside copying, when a sub-layer is switched off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import bars
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Left: sub-layers switched off. Right: a few hidden units."""
    figure = theme.figure(10, 4.6)
    parts, units = figure.subplots(1, 2, width_ratios=(2.2, 1))
    names = list(data["facts"])
    labels = [_label(words, name) for name in names]
    groups = {words(kind): [data[kind][name]["mean"] for name in names] for kind in ("facts", "copy")}
    ends = {words(kind): [_ends(data[kind][name]) for name in names] for kind in ("facts", "copy")}
    bars(parts, theme, labels, groups, spread=ends, form=".0%", horizontal=True)
    _as_share(parts, data["chance"], theme, words)
    parts.set_title(words("switched_off"))
    parts.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    kinds = ("own", "of_another", "any")
    recall = words("facts")
    bars(
        units,
        theme,
        [words(kind) for kind in kinds],
        {recall: [data["units"][kind]["mean"] for kind in kinds]},
        spread={recall: [_ends(data["units"][kind]) for kind in kinds]},
        form=".0%",
        horizontal=True,
    )
    _as_share(units, data["chance"], theme, words)
    units.set_title(words("units", top=data["units"]["top"], of=data["units"]["of"]))
    return figure


def _label(words: Words, name: str) -> str:
    part, _, layer = name.rpartition("_")
    if name == "nothing":
        return words("nothing")
    return words(f"{part}_all") if layer == "all" else words(part, layer=int(layer) + 1)


def _ends(found: dict[str, Any]) -> tuple[float, float]:
    return max(0.0, found["low"]), min(1.0, found["high"])


def _as_share(axes: Axes, chance: float, theme: Theme, words: Words) -> None:
    axes.set_xlim(0, 1.15)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.axvline(chance, color=theme.muted, linestyle=":", linewidth=1.2)
    axes.set_xlabel(words("right"))
