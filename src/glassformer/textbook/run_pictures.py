"""The pictures of a run in the theme of the textbook: the panels in its folder, and those only in the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from glassformer.show.drawing import heat
from glassformer.show.figure import finish
from glassformer.show.theme import LIGHT, Theme
from glassformer.tasks import kind_of
from glassformer.textbook.run import RunChapter
from glassformer.training.forecast_picture import draw_sample
from glassformer.training.panels import PanelWords, RunHistory, draw_loss, draw_rate, token_label
from glassformer.training.pictures import BOARD, PANELS, draw_board
from glassformer.words import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Draughtsman:
    """Draws one run in one language."""

    def __init__(self, chapter: RunChapter, lang: str, theme: Theme = LIGHT) -> None:
        self.chapter, self.lang, self.theme = chapter, lang, theme
        self.words = PanelWords(lang, kind_of(chapter.run.config).task)

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """The figures that can be drawn, by their names in reports."""
        found: dict[str, Callable[[], Figure]] = {}
        if self.chapter.records:
            found |= {"training_dashboard": self.dashboard, "loss_curves": self.losses, "learning_rate": self.rate}
        if self.chapter.forecast is not None:
            found["run_forecast"] = self.forecast
        if self.chapter.looked is not None:
            found["run_attention"] = self.attention
        if self.chapter.confused is not None:
            found["run_confusion"] = self.confusion
        return {name: _finished(make) for name, make in found.items()}

    @property
    def story(self) -> RunHistory:
        return self.chapter.story(self.lang)

    # --- whole pictures ---

    def losses(self) -> Figure:
        figure = self.theme.figure(8, 4.2)
        draw_loss(figure.subplots(), self.story, self.words, self.theme)
        return figure

    def rate(self) -> Figure:
        figure = self.theme.figure(8, 3.4)
        draw_rate(figure.subplots(), self.story, self.words, self.theme)
        return figure

    def dashboard(self) -> Figure:
        """The same page as in the folder of the run, with the map in cells that a theme can colour."""
        figure = self.theme.figure(10, 9.5)
        looked = {} if self.chapter.looked is None else {"attention": lambda axes, *_: self._map(axes, printed=False)}
        draw_board(figure.subplot_mosaic(BOARD), self.story, self.words, self.theme, {**PANELS, **looked})
        return figure

    def forecast(self) -> Figure:
        figure = self.theme.figure(10, 4.2)
        sample = self.chapter.forecast
        assert sample is not None
        series, attention = figure.subplots(1, 2, width_ratios=(2.2, 1))
        draw_sample(series, sample, self.words, self.theme)
        names = [str(number + 1) for number in range(len(sample.attention))]
        heat(attention, self.theme, sample.attention, rows=names, columns=names, bar=self.words("weight"))
        attention.set(title=self.words("patch_attention"), xlabel=self.words("patch"), ylabel=self.words("asks"))
        return figure

    def attention(self) -> Figure:
        looked = self.chapter.looked
        assert looked is not None
        size = 2.5 + 0.32 * max(len(looked.rows), len(looked.columns))
        figure = self.theme.figure(min(10, size + 1.5), min(8, size))
        self._map(figure.subplots(), printed=True)
        return figure

    def _map(self, axes: Axes, printed: bool) -> None:
        looked = self.chapter.looked
        assert looked is not None
        rows, columns = ([token_label(piece) for piece in side] for side in (looked.rows, looked.columns))
        heat(axes, self.theme, looked.weights, rows=rows, columns=columns, printed=printed, bar=self.words("weight"))
        axes.set_title(self.words(looked.kind))

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


def _finished(make: Callable[[], Figure]) -> Callable[[], Figure]:
    return lambda: finish(make())
