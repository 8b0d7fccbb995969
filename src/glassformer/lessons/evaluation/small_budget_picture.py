"""The picture of small_budget: reported losses beside entropies, and two ways to spend the same steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Two panels."""
    figure = theme.figure(10, 4.4)
    left, right = figure.subplots(1, 2)
    _entropies(left, data, theme, words)
    budget = data["budget"]
    curves = {words(name): budget[name]["curve"]["loss"] for name in ("plain", "own")}
    lines(right, theme, budget["own"]["curve"]["steps"], curves, form=".2f")
    for name, pattern in (("unigram", "--"), ("bigram", ":")):
        line = right.axhline(budget[name], color=theme.muted, linestyle=pattern, label=words(name))
        hover(line, f"{words(name)}: {budget[name]:.2f}")
    right.set_ylim(bottom=0)
    right.set_title(words("budget"))
    right.set_xlabel(words("step"))
    right.legend(fontsize=9)
    return figure


def _assumed(axes: Axes, data: Data, theme: Theme, words: Words, names: tuple[str, ...]) -> None:
    """What was not measured: dotted on to a hollow mark."""
    last, far = data["rows"][-1], data["assumed"]
    for number, name in enumerate(names):
        colour, at = theme.series[number], (last["vocab_size"], far["vocab_size"])
        axes.plot(at, (last[name], far[name]), color=colour, linestyle=(0, (1, 2)), linewidth=1.4)
        (mark,) = axes.plot(at[1:], [far[name]], color=colour, marker=theme.markers[number], markerfacecolor="none")
        hover(mark, words("assumed", name=words(name), value=f"{far[name]:.2f}"))


def _entropies(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    rows = data["rows"]
    sizes = [row["vocab_size"] for row in rows]
    names = ("uniform", "unigram", "bigram")
    lines(axes, theme, sizes, {words(name): [row[name] for row in rows] for name in names}, form=".2f")
    _assumed(axes, data, theme, words, names)
    for name, pattern in (("validation", "-"), ("training", "--")):
        label = words(f"reported_{name}", value=data["reported"][name])
        line = axes.axhline(data["reported"][name], color=theme.purple, linestyle=pattern, linewidth=1.4, label=label)
        hover(line, label)
    axes.axvspan(sizes[-1], data["assumed"]["vocab_size"], color=theme.muted, alpha=0.12, linewidth=0)
    logarithmic(axes, "x")
    axes.set_ylim(bottom=0)
    axes.set_title(words("nats"))
    axes.set_xlabel(words("vocab_size"))
    axes.legend(loc="lower right", fontsize=9)
