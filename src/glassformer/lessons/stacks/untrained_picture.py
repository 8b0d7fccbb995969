"""The control in a picture: a thin dotted line for the same models before training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glassformer.show.drawing import hover

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


def untrained(axes: Axes, x: Sequence[float], curve: Sequence[dict[str, Any]], label: str, colour: str) -> Line2D:
    """The means of a curve, in the colour of its trained counterpart, with small points for the pointer."""
    values = [at["mean"] for at in curve]
    (line,) = axes.plot(x, values, color=colour, linestyle=":", linewidth=1.2, label=label)
    for at, value in zip(x, values, strict=True):
        (point,) = axes.plot([at], [value], color=colour, marker=".", markersize=4, linestyle="")
        hover(point, f"{label} · {at:g}: {value:.3g}")
    return line
