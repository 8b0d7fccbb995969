"""The last look at every picture: minus signs, thousands, and a mark on axes that do not begin at 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import BAR, BREAK, LONG
from glassformer.lessons.texts import typeset

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FAR = 0.02  # of the highest number: an axis that begins above this begins far from 0


def finish(figure: Figure) -> Figure:
    """The same for all, so that no drawing has to think of it."""
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_text(typeset(text.get_text()))
    for axes in figure.findobj(Axes):
        assert isinstance(axes, Axes)
        _part_thousands(axes)
        if begins_high(axes):
            _break(axes)
    return figure


def begins_high(axes: Axes) -> bool:
    """Whether a reader may take the lower edge for 0, and it is not: curves over numbers, not rows of a table."""
    low, high = axes.get_ylim()
    numbered = axes.axison and len(axes.get_yticks()) > 1 and axes.get_yscale() == "linear"
    return numbered and bool(axes.lines) and axes.get_label() != BAR and low > FAR * high > 0


def _break(axes: Axes) -> None:
    """Two strokes across the foot of the axis."""
    from matplotlib.lines import Line2D

    stroke: Any = [(-1, -0.45), (1, 0.45)]
    line = Line2D([0, 0], [0.035, 0.06], linestyle="none", marker=stroke, markersize=9)
    colour = axes.spines["left"].get_edgecolor()
    line.set(transform=axes.transAxes, clip_on=False, label=BREAK, color=colour, markeredgewidth=1.3)
    axes.add_line(line)


def _part_thousands(axes: Axes) -> None:
    """10,000 where an axis reaches so far; below that 1000 is read as easily."""
    from matplotlib.ticker import ScalarFormatter

    for axis in (axes.xaxis, axes.yaxis):
        if isinstance(axis.get_major_formatter(), ScalarFormatter) and max(map(abs, axis.get_view_interval())) >= LONG:
            axis.set_major_formatter("{x:,.10g}")
