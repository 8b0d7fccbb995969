"""The picture of feed_forward: the bends, the silent units, the loss by width, the kinds side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import bars, logarithmic
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Four panels, two by two."""
    figure = theme.figure(9.5, 7)
    (bends, silent), (wide, kinds) = figure.subplots(2, 2)
    _bends(bends, data["curves"], theme, words)
    _silent(silent, data["silent"], theme, words)
    _widths(wide, data["widths"], theme, words)
    _kinds(kinds, data["widths"]["variants"], theme, words)
    return figure


def _bends(axes: Axes, curves: dict[str, list[float]], theme: Theme, words: Words) -> None:
    for number, name in enumerate(("relu", "gelu", "silu")):
        colour, pattern = theme.series[number], theme.lines[number]
        (line,) = axes.plot(curves["x"], curves[name], color=colour, linestyle=pattern, label=words(name))
        hover(line, words(name))
    axes.legend()
    axes.set_title(words("bends"))
    axes.set_xlabel("x")


def _kinds(axes: Axes, found: dict[str, Any], theme: Theme, words: Words) -> None:
    for at, (name, row) in enumerate(found.items()):
        loss = row["loss"]
        axes.plot([at, at], [loss["low"], loss["high"]], color=theme.ink, linewidth=1.2)
        (point,) = axes.plot([at], [loss["mean"]], color=theme.blue, marker=theme.markers[0], markersize=8)
        hover(point, f"{words(name)} · {row['parameters']:,}: {loss['mean']:.3f}")
        beside = (at, loss["mean"])
        axes.annotate(f"{loss['mean']:.3f}", beside, (8, 0), textcoords="offset points", va="center", fontsize=9)
    axes.set_xticks(range(len(found)), [words(name) for name in found])
    axes.set_xlim(-0.5, len(found) - 0.4)
    axes.set_title(words("kinds"))
    axes.set_ylabel(words("loss"))


def _silent(axes: Axes, rows: list[dict[str, Any]], theme: Theme, words: Words) -> None:
    labels = [words(row["side"], layer=row["layer"] + 1) for row in rows]
    bars(axes, theme, labels, {words(kind): [row[kind] for row in rows] for kind in ("fresh", "trained")}, form=".0%")
    axes.set_ylim(0, 1.3)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    axes.legend(loc="upper left", ncols=2)
    axes.set_title(words("silent"))


def _widths(axes: Axes, found: dict[str, Any], theme: Theme, words: Words) -> None:
    for number, kind in enumerate(("equal", "free")):
        rows = found[kind]
        x = [row["d_ff"] / row["d_model"] for row in rows]
        means, colour = [row["loss"]["mean"] for row in rows], theme.series[number]
        axes.errorbar(
            x,
            means,
            [[mean - row["loss"]["low"] for mean, row in zip(means, rows, strict=True)]] * 2,
            color=colour,
            linestyle="",
            capsize=3,
        )
        axes.plot(x, means, color=colour, linestyle=theme.lines[number], label=words(kind))
        _points(axes, theme, number, x, rows, words(kind))
    logarithmic(axes, "x", base=2)
    axes.legend()
    axes.set_title(words("widths"))
    axes.set_xlabel("d_ff / d_model")
    axes.set_ylabel(words("loss"))


def _points(axes: Axes, theme: Theme, number: int, x: list[float], rows: list[dict[str, Any]], label: str) -> None:
    for at, row in zip(x, rows, strict=True):
        (point,) = axes.plot([at], [row["loss"]["mean"]], color=theme.series[number], marker=theme.markers[number])
        hover(point, f"{label} · {at:.2g}× · {row['parameters']:,}: {row['loss']['mean']:.3f}")
