"""The paper's learning rate, §5.3, Eq. (3): the step and height of its peak. No claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.config.recipe import TrainConfig
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.show.drawing import lines, logarithmic
from glassformer.show.theme import Theme
from glassformer.training.schedule import learning_rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WARMUPS = (1000, 2000, 4000, 8000)
WIDTHS = (128, 256, 512, 1024)
PAPER = (4000, 512)  # warm-up and d_model of the base model
STEPS, EVERY = 20_000, 500


def run(setup: LessonSetup) -> Data:
    """The rate at every step for every warm-up and width, from the function that training calls."""
    found = {(warmup, width): _rates(warmup, width) for warmup in setup.each("warmup", WARMUPS) for width in WIDTHS}
    shown = [1, *range(EVERY, STEPS + 1, EVERY)]
    peaks = [_peak(warmup, width, rates) for (warmup, width), rates in found.items()]
    return {
        "steps": STEPS,
        "shown": shown,
        "warmups": list(WARMUPS),
        "widths": list(WIDTHS),
        "curves": {str(warmup): [found[warmup, PAPER[1]][step - 1] for step in shown] for warmup in WARMUPS},
        "peaks": {str(width): [peak for peak in peaks if peak["d_model"] == width] for width in WIDTHS},
        "paper": next(peak for peak in peaks if (peak["warmup"], peak["d_model"]) == PAPER),
        "error": max(abs(peak["rate"] / peak["formula"] - 1) for peak in peaks),
        "late": max(abs(peak["step"] - peak["warmup"]) for peak in peaks),
    }


def _rates(warmup: int, width: int) -> list[float]:
    config = TrainConfig(schedule="noam", warmup=warmup, steps=STEPS)  # type: ignore[arg-type]
    return [learning_rate(step, config, width) for step in range(1, STEPS + 1)]


def _peak(warmup: int, width: int, rates: list[float]) -> dict[str, Any]:
    """The highest rate and its step, found by a search over every step."""
    highest = max(rates)
    return {
        "warmup": warmup,
        "d_model": width,
        "step": rates.index(highest) + 1,
        "rate": highest,
        "formula": (width * warmup) ** -0.5,
        "half": next((step for step, rate in enumerate(rates, 1) if step > warmup and rate < highest / 2), None),
    }


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Two panels."""
    figure = theme.figure(10, 4.2)
    left, right = figure.subplots(1, 2)
    curves = {words("warmup_is", n=warmup): rates for warmup, rates in data["curves"].items()}
    lines(left, theme, data["shown"], curves, form=".2e")
    left.set_xticks(range(0, data["steps"] + 1, 5000))
    left.set(title=words("curves", d_model=data["paper"]["d_model"]), xlabel=words("step"), ylabel=words("rate"))
    peaks = {f"d_model {width}": [peak["rate"] for peak in row] for width, row in data["peaks"].items()}
    lines(right, theme, data["warmups"], peaks, form=".2e")
    logarithmic(right, "x", base=2)
    logarithmic(right, "y", base=2)
    right.set_yticks([0.0005, 0.001, 0.002], ["0.0005", "0.001", "0.002"])
    right.set_xticks(data["warmups"], [str(warmup) for warmup in data["warmups"]])
    right.set(title=words("peaks"), xlabel=words("warmup"), ylabel=words("peak"))
    return figure


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"lrate=d_{model}^{-0.5}\cdot\min(step^{-0.5},\;step\cdot warmup^{-1.5})",
    formula="lrate = d_model^−0.5 · min(step^−0.5, step · warmup^−1.5)",
    paper="§5.3, Eq. (3)",
    sources=("training/schedule.py",),
    picture="transformer_schedule_analysis",
)
