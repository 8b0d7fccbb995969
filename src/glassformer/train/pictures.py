"""The three pictures of a run, drawn from log.jsonl alone: a resumed run redraws the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.fonts import hangul_font
from glassformer.runs import Run
from glassformer.runs.files import TEMPORARY, disk
from glassformer.tasks import Kind, kind_of
from glassformer.words import language, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito: told apart by everybody, also by the colour-blind
BLUE, ORANGE, GREEN, VERMILION, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#767676"
STYLE: dict[str, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "legend.frameon": False,
}
Records = Sequence[Mapping[str, Any]]


def draw(run: Run) -> list[Path]:
    """Draw all pictures of a run anew; a reader sees the old one or the new one, never half of one."""
    from matplotlib import rc_context

    font = hangul_font() if language() == "ko" else None
    paths = []
    with rc_context(style(font)):
        for name, figure in figures(run.log.read(), "ko" if font else "en", kind_of(run.config)).items():
            paths.append(run.pictures / f"{name}.png")
            save(figure, paths[-1])
    return paths


def style(font: str | None) -> Any:
    """Bold titles only in the font that comes with matplotlib: a Hangul font may have no bold, and it would say so."""
    own = (
        {"font.family": [font, "DejaVu Sans"]} if font else {"font.family": ["DejaVu Sans"], "axes.titleweight": "bold"}
    )
    return {**STYLE, **own}


def figures(records: Records, lang: str, kind: Kind) -> dict[str, Figure]:
    """Loss, learning rate, and the dashboard of four, as figures that nothing else holds on to (no pyplot)."""
    from matplotlib.figure import Figure

    words = Words(lang, kind)
    alone = {"left": 0.1, "right": 0.97, "bottom": 0.12, "top": 0.92}
    loss, rate = Figure(figsize=(8, 4.5)), Figure(figsize=(8, 4.5))
    draw_loss(loss.subplots(gridspec_kw=alone), records, words)
    draw_rate(rate.subplots(gridspec_kw=alone), records, words)
    board = Figure(figsize=(11, 7))  # margins by hand: a layout engine takes as long as all the drawing
    margins = {"left": 0.07, "right": 0.98, "bottom": 0.08, "top": 0.95, "wspace": 0.18, "hspace": 0.32}
    four = board.subplots(2, 2, gridspec_kw=margins)
    for axes, panel in zip(four.flat, (draw_loss, draw_rate, draw_speed, draw_quality), strict=True):
        panel(axes, records, words)
    return {"loss_curves": loss, "learning_rate": rate, "dashboard": board}


@dataclass(frozen=True)
class Words:
    """What stands in a picture, in the language of its words: "loss", "step" …"""

    lang: str
    kind: Kind

    def __call__(self, key: str) -> str:
        return say(f"watch.picture.{key}", self.lang)

    @property
    def speed(self) -> str:
        return say("watch.picture.speed", self.lang, units=say(f"units.many.{self.kind.unit}", self.lang))

    @property
    def loss(self) -> str:
        return say(f"units.loss.{self.kind.unit}", self.lang)

    def metric(self, name: str) -> str:
        return say(f"metrics.{name}", self.lang)


# --- panels ---


def draw_loss(axes: Axes, records: Records, words: Words) -> None:
    training, validation = curve(records, "train", "loss"), curve(records, "evaluation", "loss")
    axes.plot(*training, color=BLUE, linewidth=1.4, label=words("training"))
    axes.plot(*validation, color=VERMILION, linewidth=1.4, label=words("validation"), **_marked(validation, "o"))
    if validation[0]:
        value, step = min(zip(validation[1], validation[0], strict=True))
        label = f"{words('best')}: {value:.3f}"
        axes.plot([step], [value], color=VERMILION, linestyle="", marker="*", markersize=12, label=label)
    axes.legend(loc="upper right")
    _finish(axes, records, words, words("loss"))
    axes.set_ylabel(words.loss)


def draw_rate(axes: Axes, records: Records, words: Words) -> None:
    axes.plot(*curve(records, "train", "learning_rate"), color=GREEN, linewidth=1.6)
    _finish(axes, records, words, words("learning_rate"))
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:g}")


def draw_speed(axes: Axes, records: Records, words: Words) -> None:
    axes.plot(*curve(records, "train", "tokens_per_second"), color=GREY, linewidth=1.4)
    _finish(axes, records, words, words.speed)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def draw_quality(axes: Axes, records: Records, words: Words) -> None:
    """The metrics that a task shows; shares and percentages as a number from 0 to 100."""
    lines = zip((BLUE, ORANGE, GREEN, VERMILION), ("-", "--", "-.", ":"), "os^v", strict=True)
    for (name, scale), (colour, line, marker) in zip(words.kind.shown.items(), lines, strict=False):
        steps, values = curve(records, "evaluation", name)
        points = steps, [100 * value for value in values] if scale == "share" else values
        axes.plot(*points, color=colour, linestyle=line, label=words.metric(name), **_marked(points, marker))
    if words.kind.shown:
        axes.legend(loc="lower right")
    _finish(axes, records, words, words("quality"))
    if "free" not in words.kind.shown.values():
        axes.set_ylim(-3, 103)
        axes.set_yticks(range(0, 101, 20))


def curve(records: Records, kind: str, name: str) -> tuple[list[int], list[float]]:
    """Steps and values of one number; what was not finite is null in the log, and left out here."""
    points = [(record["step"], record[name]) for record in records if record.get("kind") == kind and name in record]
    points = [(step, value) for step, value in points if isinstance(value, int | float)]
    return [step for step, _ in points], [value for _, value in points]


def _marked(points: tuple[list[int], list[float]], marker: str) -> dict[str, Any]:
    """Each point marked, as long as they are few."""
    return {"marker": marker if len(points[0]) <= 30 else "", "markersize": 4}


def _finish(axes: Axes, records: Records, words: Words, title: str) -> None:
    """The same steps below every panel."""
    from matplotlib.ticker import MaxNLocator

    axes.set_title(title)
    axes.set_xlabel(words("step"))
    axes.set_xlim(0, 1.02 * max((record["step"] for record in records), default=1))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
    axes.xaxis.set_major_formatter("{x:,.0f}")


# --- files ---


def save(figure: Figure, path: Path) -> None:
    """The whole file, or the one that was there before."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    image = BytesIO()
    figure.savefig(image, format="png", dpi=110)
    draft = path.with_name(TEMPORARY + path.name)
    with disk(path):
        try:
            path.parent.mkdir(exist_ok=True)
            draft.write_bytes(image.getvalue())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
