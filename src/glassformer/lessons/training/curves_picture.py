"""A panel of training curves over steps, as made by `letters.curve`, for the lessons of this chapter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from glassformer.show.drawing import lines
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_curves(axes: Axes, theme: Theme, shown: Mapping[str, Mapping[str, Any]]) -> None:
    """One line for each label with its interval shaded; a diverged run leaves a gap."""
    steps = next(iter(shown.values()))["steps"]
    lines(axes, theme, steps, {label: _intervals(one) for label, one in shown.items()})


def _intervals(curve: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A recorded curve (three lists) → an interval at each step."""
    ends = ("mean", "low", "high")
    return [dict(zip(ends, at, strict=True)) for at in zip(*(curve[end] for end in ends), strict=True)]


def finer(axes: Axes) -> None:
    """Labels at 1, 2 and 5 times each power of ten on a logarithmic axis, for less than two powers."""
    from matplotlib.ticker import LogLocator

    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
