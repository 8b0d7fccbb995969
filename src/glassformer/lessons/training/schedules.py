"""Every learning-rate schedule of the package, over a training of the same length. No claim."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from glassformer.config.recipe import TrainConfig
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.show.drawing import bars, lines
from glassformer.show.theme import Theme
from glassformer.training.schedule import SCHEDULES, learning_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


STEPS, WARMUP, D_MODEL = 1000, 100, 512
EVERY = 20  # steps between two points of a curve


def run(setup: LessonSetup) -> Data:
    """The rate of every step, from the function that training calls, as a share of its peak."""
    kinds = {kind: _shares(kind) for kind in setup.each("schedule", SCHEDULES)}
    shown = [*range(1, STEPS, EVERY), STEPS]
    rows = {kind: _row(shares, shown) for kind, shares in kinds.items()}
    same = max(abs(a - b) for a, b in zip(kinds["noam"], kinds["inverse_sqrt"], strict=True))
    return {"steps": STEPS, "warmup": WARMUP, "shown": shown, "kinds": rows, "noam_inverse_sqrt": same}


def _shares(kind: str) -> list[float]:
    config = TrainConfig(schedule=kind, steps=STEPS, warmup=WARMUP, learning_rate=1.0)  # type: ignore[arg-type]
    rates = [learning_rate(step, config, D_MODEL) for step in range(1, STEPS + 1)]
    highest = max(rates)
    return [rate / highest for rate in rates]


def _row(shares: list[float], shown: list[int]) -> dict[str, Any]:
    return {
        "curve": [shares[step - 1] for step in shown],
        "mean": fmean(shares),
        "first": shares[0],
        "last": shares[-1],
        "peak_step": shares.index(max(shares)) + 1,
    }


FALL = ("noam", "inverse_sqrt", "linear", "cosine")
UNDER = 7.0  # points wide: this line is drawn under the others
OTHERS = ("one_cycle", "cyclic", "constant")


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Two panels of curves over the same steps, and a bar for each schedule."""
    figure = theme.figure(10, 6.2)
    places = figure.subplot_mosaic([["fall", "others"], ["mean", "mean"]], height_ratios=(3, 2))
    for name, kinds in (("fall", FALL), ("others", OTHERS)):
        _curves(places[name], data, theme, words, kinds)
        places[name].set_title(words(name))
    places["fall"].set_ylabel(words("share"))
    bars(
        places["mean"],
        theme,
        [words(kind) for kind in data["kinds"]],
        {"": [row["mean"] for row in data["kinds"].values()]},
        form=".2f",
    )
    places["mean"].set_title(words("mean"))
    places["mean"].set_ylim(0, 1.1)
    return figure


def _curves(axes: Axes, data: Data, theme: Theme, words: PictureWords, kinds: tuple[str, ...]) -> None:
    lines(axes, theme, data["shown"], {words(kind): data["kinds"][kind]["curve"] for kind in kinds}, form=".2f")
    axes.lines[0].set(linewidth=UNDER, alpha=0.4, linestyle="-", zorder=1)  # visible even where another line covers it
    axes.set_xlabel(words("step"))
    axes.set_ylim(0, 1.35)
    axes.legend(ncol=2, loc="upper right", fontsize=8)


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"\mathrm{rate}(t)=\mathrm{peak}\cdot f(t),\qquad 0\le f(t)\le 1",
    formula="rate(t) = peak · f(t),   0 ≤ f(t) ≤ 1",
    paper="§5.3",
    sources=("training/schedule.py",),
    picture="lr_scheduler_curves",
)
