"""The picture of generation: where each token looked, which candidates it had, and the tree of the beam search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import heat
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """The map and the candidates share their rows; the tree grows below them from left to right."""
    figure = theme.figure(10, 8)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.25, 1))
    upper, lower = parts
    left, right = upper.subplots(1, 2, width_ratios=(1, 1.1))
    heat(left, theme, data["weights"], rows=[step["token"] for step in data["steps"]], columns=data["source"], most=1.0)
    left.tick_params(labelsize=8.5)
    left.set_title(words("looked"))
    _candidates(right, theme, words, data)
    _tree(lower.subplots(), theme, words, data["tree"])
    return figure


def _candidates(axes: Axes, theme: Theme, words: Words, data: Data) -> None:
    """A bar of probability for each step, cut where the candidates meet."""
    for row, step in enumerate(data["steps"]):
        begin = 0.0
        for rank, found in enumerate(step["candidates"]):
            wide = found["probability"]
            (bar,) = axes.barh(row, wide, 0.82, begin, color=theme.series[rank], alpha=0.45)
            hover(bar, f"{found['token']}: {wide:.3f}")
            if wide > 0.09:
                axes.text(begin + wide / 2, row, f"{found['token']} {wide:.2f}", ha="center", va="center", fontsize=8)
            begin += wide
    axes.set_ylim(len(data["steps"]) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.set_title(words("candidates"))


def _tree(axes: Axes, theme: Theme, words: Words, tree: Data) -> None:
    """Steps go right, the candidates of a step stand below each other, the likeliest on top."""
    places = _places(tree["nodes"])
    colours = {"kept": theme.blue, "finished": theme.green, "pruned": theme.muted}
    for number, node in enumerate(tree["nodes"]):
        if number not in places:
            continue
        x, y = places[number]
        px, py = places.get(node["parent"], (0.0, 0.0))
        on = node["way"]
        axes.plot(
            [px + 0.4, x - 0.4] if px else [0.15, x - 0.4],
            [py, y],
            color=theme.vermilion if on else theme.muted,
            linewidth=2.2 if on else 0.8,
            alpha=1.0 if on else 0.6,
            zorder=1,
        )
        text = axes.text(
            x,
            y,
            f"{_short(node['token'])}\n{node['probability']:.2f}",
            ha="center",
            va="center",
            fontsize=8,
            color=colours[node["fate"]],
            linespacing=0.9,
        )
        hover(
            text,
            f"{node['token']}: p {node['probability']:.3f}, Σ log p {node['cumulative']:.2f}, {words(node['fate'])}",
        )
    steps = max(x for x, _ in places.values())
    axes.set_xlim(-0.1, steps + 0.6)
    axes.set_ylim(min(y for _, y in places.values()) - 0.6, 0.7)
    axes.axis("off")
    axes.set_title(words("tree"))


def _short(token: str, most: int = 9) -> str:
    """As much of a token as there is room for."""
    return token if len(token) <= most else f"{token[: most - 1]}…"


def _places(nodes: list[dict[str, Any]], most: int = 4) -> dict[int, tuple[float, float]]:
    """The best `most` of each step, those that went on among them; behind whom nobody stands, nothing is drawn."""
    places: dict[int, tuple[float, float]] = {}
    for step in sorted({node["step"] for node in nodes}):
        here = [i for i, node in enumerate(nodes) if node["step"] == step and (node["parent"] in places or step == 1)]
        order = sorted(
            here, key=lambda i: (nodes[i]["fate"] == "pruned" and not nodes[i]["way"], -nodes[i]["cumulative"])
        )
        for rank, number in enumerate(order[:most]):
            places[number] = (float(step), -float(rank))
    return places
