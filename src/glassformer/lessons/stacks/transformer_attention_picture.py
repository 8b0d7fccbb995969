"""The picture of transformer_attention: three kinds of attention of one translation, its alignment, and error rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import bars, colour_bar, heat
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATES = ("best", "mean", "diagonal", "chance", "untrained")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Encoder, decoder and cross-attention above; the words' alignment and the error rates below."""
    figure = theme.figure(10, 8)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1, 1))
    upper, lower = parts
    page = data["page"]
    shown = {
        "encoder": (page["source"], page["source"]),
        "decoder": (page["target"], page["target"]),
        "cross": (page["target"], page["source"]),
    }
    panels = upper.subplots(1, 3)
    for axes, (name, (rows, columns)) in zip(panels, shown.items(), strict=True):
        heat(axes, theme, page[name], rows=rows, columns=columns, most=1.0, bar=None)
        axes.set_ylabel(words("asks"), fontsize=9)
        axes.tick_params(labelsize=8)
        axes.set_title(words(name), fontsize=10)
    colour_bar(panels, theme, 1.0, label=words("weight"))
    left, right = lower.subplots(1, 2, width_ratios=(1.1, 1))
    _alignment(left, theme, words, data)
    _rates(right, theme, words, data)
    return figure


def _alignment(axes: Axes, theme: Theme, words: Words, data: Data) -> None:
    from matplotlib.patches import Rectangle

    page = data["page"]
    heat(
        axes,
        theme,
        page["words"],
        rows=page["target_words"],
        columns=page["source_words"],
        most=1.0,
        bar=words("weight"),
    )
    axes.set_ylabel(words(f"row_{data['trained']['choice'][-1]}"), fontsize=9)
    for source, target in page["links"]:
        frame = Rectangle((source - 0.45, target - 0.45), 0.9, 0.9, fill=False, edgecolor=theme.vermilion, linewidth=2)
        hover(frame, f"{page['target_words'][target]} = {page['source_words'][source]}")
        axes.add_patch(frame)
    axes.tick_params(labelsize=8)
    axes.set_title(words("alignment"), fontsize=10)


def _rates(axes: Axes, theme: Theme, words: Words, data: Data) -> None:
    rates = data["rates"]
    names = ["trained", *RATES]
    values = {"": [data["trained"]["best"], *(rates[name]["mean"] for name in RATES)]}
    own = (data["trained"]["best"], data["trained"]["best"])
    spread = {"": [own, *((rates[name]["low"], rates[name]["high"]) for name in RATES)]}
    bars(axes, theme, [words(name) for name in names], values, spread=spread, form=".2f", horizontal=True)
    axes.axvline(data["least"], color=theme.muted, linestyle="--", linewidth=1)
    axes.set_xlim(0, 1)
    axes.tick_params(labelsize=8.5)
    axes.set_title(words("rates"), fontsize=10)
