"""What must hold for every picture: what a careful reader would complain about, found by looking at the figure."""

from __future__ import annotations

import re
import warnings
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.patches import FancyBboxPatch, Patch
from matplotlib.text import Text

from glassformer.show.drawing import BAR, BREAK, HEAT, MARK
from glassformer.show.theme import Theme

ENOUGH = 4.5  # WCAG 2, AA
HYPHEN = re.compile(r"(?<![\w.)\-])-(?=[\d.])")
PROGRAMMER = re.compile(r"\d[eE][+−-]?\d")
SHARE = re.compile(r"[+-]?\d+(\.\d+)?%")
SMALLEST = 7.5  # points, on a page 10 inches wide


def laid_out(figure: Figure) -> Figure:
    FigureCanvasAgg(figure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Creating legend with loc")  # said on slow machines only
        figure.canvas.draw()
    return figure


def texts(figure: Figure) -> list[Text]:
    """What is really drawn: neither empty nor hidden, nor a tick outside of its axis."""
    found = list(figure.findobj(Text, include_self=False))
    hidden = {
        id(text) for legend in figure.findobj(Legend) if not legend.get_visible() for text in legend.findobj(Text)
    }
    for axes in figure.findobj(Axes):
        for axis in (axes.xaxis, axes.yaxis):
            drawn = {id(label) for label in _labels(axis)} if axes.axison and axes.get_visible() else set()
            hidden |= {id(text) for text in axis.findobj(Text)} - drawn
    return [text for text in found if text.get_text().strip() and text.get_visible() and id(text) not in hidden]


def _labels(axis: Axis) -> list[Text]:
    """What stands along an axis: its name, and the numbers of the ticks within view."""
    low, high = sorted(axis.get_view_interval())
    room = 1e-9 * abs(high - low)
    ticks = [tick for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()) if tick.get_visible()]
    within = [tick for tick in ticks if low - room <= tick.get_loc() <= high + room]
    return [axis.label, axis.offsetText, *(label for tick in within for label in (tick.label1, tick.label2))]


# --- numbers ---


def misprints(figure: Figure) -> list[str]:
    """Hyphens for minus signs, and 1e-05: in what is printed and in what shows itself under the pointer."""
    marked = [gid.removeprefix(MARK) for artist in figure.findobj() if (gid := artist.get_gid() or "").startswith(MARK)]
    said = [*(text.get_text() for text in texts(figure)), *marked]
    return [one for one in said if HYPHEN.search(one) or PROGRAMMER.search(one)]


def rounded_ticks(figure: Figure) -> list[tuple[str, float]]:
    """Percentages beside an axis that are not where they say: 92% at 92.5%."""
    axes = [axis for one in figure.axes for axis in (one.xaxis, one.yaxis)]
    ticks = [(one.label1.get_text(), float(one.get_loc())) for axis in axes for one in axis.get_major_ticks()]
    shares = [(label, place) for label, place in ticks if SHARE.fullmatch(label.replace("−", "-"))]
    return [(label, place) for label, place in shares if abs(float(label[:-1].replace("−", "-")) - 100 * place) > 0.01]


# --- places ---


def cut_off(figure: Figure) -> list[str]:
    """Texts that leave the picture."""
    room = figure.bbox.padded(1.0)
    boxes = {text: text.get_window_extent() for text in texts(figure)}
    return [
        text.get_text()
        for text, box in boxes.items()
        if box.x0 < room.x0 or box.y0 < room.y0 or box.x1 > room.x1 or box.y1 > room.y1
    ]


def crossing(figure: Figure) -> list[tuple[str, str]]:
    """Level texts that lie over each other: more than a quarter of the smaller one."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts(figure) if text.get_rotation() in (0, 90)]
    found = []
    for number, (one, first) in enumerate(boxes):
        for other, second in boxes[number + 1 :]:
            wide = min(first.x1, second.x1) - max(first.x0, second.x0)
            high = min(first.y1, second.y1) - max(first.y0, second.y0)
            if wide > 1 and high > 1 and wide * high > 0.25 * min(_area(first), _area(second)):
                found.append((one, other))
    return found


def _area(box: Any) -> float:
    return float(max(box.width * box.height, 1e-9))


def small(figure: Figure) -> list[str]:
    return [text.get_text() for text in texts(figure) if text.get_fontsize() < SMALLEST]


# --- colours ---


def luminance(colour: Any) -> float:
    """Of WCAG 2."""
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgba(colour)[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: Any, other: Any) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def over(colour: Any, ground: Any) -> tuple[float, ...]:
    """A colour more or less transparent on another."""
    *rgb, alpha = to_rgba(colour)
    return tuple(alpha * a + (1 - alpha) * b for a, b in zip(rgb, ground[:3], strict=True))


def faint(figure: Figure, theme: Theme) -> list[tuple[str, float]]:
    """Texts that are hard to read on what lies below their middle."""
    found = []
    patches = [patch for patch in figure.findobj(Patch) if _fills(patch)]
    boxes = [(patch, patch.get_window_extent()) for patch in patches]
    for text in texts(figure):
        box = text.get_window_extent()
        x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        ground: Any = to_rgba(theme.paper)
        own = text.get_bbox_patch()
        below = [patch for patch, place in boxes if place.contains(x, y) and patch.get_zorder() <= text.get_zorder()]
        for patch in [*sorted(below, key=lambda patch: patch.get_zorder()), *([own] if own is not None else [])]:
            ground = over(patch.get_facecolor(), ground)
        seen = over(text.get_color() if text.get_alpha() is None else (text.get_color(), text.get_alpha()), ground)
        if contrast(seen, ground) < ENOUGH:
            found.append((text.get_text(), round(contrast(seen, ground), 2)))
    return found


def _fills(patch: Patch) -> bool:
    own = isinstance(patch.axes, Axes) and patch is patch.axes.patch
    return (
        patch.get_visible()
        and not own
        and not isinstance(patch, FancyBboxPatch)
        and to_rgba(patch.get_facecolor())[3] > 0
    )


# --- axes ---


def unexplained(figure: Figure) -> list[str]:
    """Heat maps for whose scale there is no colour bar."""
    scales = [axes.get_ylim() for axes in figure.findobj(Axes) if axes.get_label() == BAR]
    found = []
    for axes in figure.findobj(Axes):
        if axes.get_label().startswith(HEAT):
            low, high = map(float, axes.get_label().removeprefix(HEAT).split())
            if not any(least <= low * 0.999 and abs(most - high) <= 1e-3 * high for least, most in scales):
                found.append(axes.get_title(loc="left") or axes.get_title())
    return found


def bars_off_zero(figure: Figure) -> list[str]:
    """Bars whose axis does not begin at 0: their lengths would lie."""
    found = []
    for axes in figure.findobj(Axes):
        for bars in axes.containers:
            if isinstance(bars, BarContainer):
                low, high = sorted(axes.get_ylim() if bars.orientation == "vertical" else axes.get_xlim())
                if not low <= 0 <= high:
                    found.append(axes.get_title(loc="left"))
    return found


def unmarked_cuts(figure: Figure) -> list[str]:
    """Axes of curves that begin far from 0 and do not say so."""
    return [
        axes.get_title(loc="left")
        for axes in figure.findobj(Axes)
        if begins_high(axes) and not [line for line in axes.lines if line.get_label() == BREAK]
    ]


def begins_high(axes: Axes) -> bool:
    low, high = sorted(axes.get_ylim())
    numbered = axes.axison and any(label.get_text() for label in axes.get_yticklabels())
    return bool(axes.lines) and numbered and axes.get_yscale() == "linear" and low > 0.02 * high > 0


def bands_above_one(figure: Figure) -> list[str]:
    """Shades of shares that reach beyond 100 %."""
    found = []
    for axes in figure.findobj(Axes):
        labels = [label.get_text() for label in axes.get_yticklabels() if label.get_text()]
        if labels and all(label.endswith("%") for label in labels):
            highest = [path.vertices[:, 1].max() for shade in axes.collections for path in shade.get_paths()]
            found += [axes.get_title(loc="left") for high in highest if high > 1 + 1e-9 and max(axes.get_ylim()) <= 1.5]
    return found
