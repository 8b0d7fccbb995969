"""The pictures of a run in the theme of the textbook, drawn from log.jsonl: losses, learning rate, dashboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from glassformer.lessons.drawing import heat
from glassformer.lessons.hover import hover
from glassformer.lessons.theme import LIGHT, Theme
from glassformer.report.run import RunChapter
from glassformer.tasks import kind_of
from glassformer.train.pictures import Words, curve
from glassformer.words import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 60  # of a curve, each with its value under the pointer


class Draughtsman:
    """Draws one run in one language."""

    def __init__(self, chapter: RunChapter, lang: str, theme: Theme = LIGHT) -> None:
        self.chapter, self.lang, self.theme = chapter, lang, theme
        self.words = Words(lang, kind_of(chapter.run.config))

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """What there is to draw, by the names that reports know the pictures by."""
        found: dict[str, Callable[[], Figure]] = {}
        if self.chapter.records:
            found |= {"loss_curves": self.losses, "learning_rate": self.rate, "training_dashboard": self.dashboard}
        if self.chapter.looked is not None:
            found["run_attention"] = self.attention
        if self.chapter.confused is not None:
            found["run_confusion"] = self.confusion
        return found

    # --- whole pictures ---

    def losses(self) -> Figure:
        figure = self.theme.figure(8, 4.2)
        self._loss(figure.subplots())
        return figure

    def rate(self) -> Figure:
        figure = self.theme.figure(8, 3.4)
        self._rate(figure.subplots())
        return figure

    def dashboard(self) -> Figure:
        figure = self.theme.figure(10, 6.4)
        panels = (self._loss, self._rate, self._speed, self._quality)
        for axes, panel in zip(figure.subplots(2, 2).flat, panels, strict=True):
            panel(axes)
        return figure

    def attention(self) -> Figure:
        looked = self.chapter.looked
        assert looked is not None
        size = 2.5 + 0.32 * max(len(looked.rows), len(looked.columns))
        figure = self.theme.figure(min(10, size + 1.5), min(8, size))
        axes = figure.subplots()
        rows, columns = ([piece.replace("$", "\\$") for piece in side] for side in (looked.rows, looked.columns))
        heat(axes, self.theme, looked.weights, rows=rows, columns=columns, printed=True)
        axes.set_title(say(f"report.run.{looked.kind}", self.lang))
        return figure

    def confusion(self) -> Figure:
        confused = self.chapter.confused
        assert confused is not None
        size = 2.2 + 0.55 * len(confused.labels)
        figure = self.theme.figure(min(10, size + 1), min(8, size))
        axes = figure.subplots()
        labels = confused.labels
        heat(axes, self.theme, confused.counts, rows=labels, columns=labels, form=".0f", printed=True)
        axes.set_xlabel(say("report.run.said", self.lang))
        axes.set_ylabel(say("report.run.true", self.lang))
        return figure

    # --- panels ---

    def _loss(self, axes: Axes) -> None:
        training, validation = (curve(self.chapter.records, kind, "loss") for kind in ("train", "evaluation"))
        self._line(axes, 0, self.words("training"), training)
        self._line(axes, 1, self.words("validation"), validation)
        self._finish(axes, self.words("loss"))
        axes.set_ylabel(self.words.loss)
        axes.legend()

    def _rate(self, axes: Axes) -> None:
        self._line(axes, 2, self.words("learning_rate"), curve(self.chapter.records, "train", "learning_rate"))
        self._finish(axes, self.words("learning_rate"))
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter("{x:g}")

    def _speed(self, axes: Axes) -> None:
        self._line(axes, 4, self.words.speed, curve(self.chapter.records, "train", "tokens_per_second"))
        self._finish(axes, self.words.speed)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter("{x:,.0f}")

    def _quality(self, axes: Axes) -> None:
        shown: Mapping[str, str] = self.words.kind.shown
        for number, (name, scale) in enumerate(shown.items()):
            steps, values = curve(self.chapter.records, "evaluation", name)
            points = steps, [100 * value for value in values] if scale == "share" else values
            self._line(axes, number, self.words.metric(name), points)
        self._finish(axes, self.words("quality"))
        if shown:
            axes.legend()

    def _line(self, axes: Axes, number: int, label: str, points: tuple[Sequence[int], Sequence[float]]) -> None:
        steps, values = thinned(*points)
        colour, pattern = self.theme.series[number], self.theme.lines[number]
        axes.plot(steps, values, color=colour, linestyle=pattern, label=label)
        for step, value in zip(steps, values, strict=True):
            (mark,) = axes.plot([step], [value], color=colour, marker=self.theme.markers[number], markersize=3.5)
            hover(mark, f"{label} · {step:,}: {value:.4g}")

    def _finish(self, axes: Axes, title: str) -> None:
        from matplotlib.ticker import MaxNLocator

        axes.set_title(title)
        axes.set_xlabel(self.words("step"))
        axes.set_xlim(0, 1.02 * max((record["step"] for record in self.chapter.records), default=1))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.xaxis.set_major_formatter("{x:,.0f}")


def thinned(steps: Sequence[int], values: Sequence[float]) -> tuple[list[int], list[float]]:
    """At most so many points, evenly spread, the last among them."""
    every = -(-len(steps) // MOST_POINTS) or 1
    kept = sorted({*range(0, len(steps), every), *([len(steps) - 1] if steps else [])})
    return [steps[i] for i in kept], [values[i] for i in kept]
