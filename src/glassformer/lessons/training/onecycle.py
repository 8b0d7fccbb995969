"""One cycle of learning rate and momentum (Smith & Topin 2019): ours against PyTorch's scheduler. No claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from glassformer.config.recipe import TrainConfig
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.show.drawing import lines
from glassformer.show.theme import Theme
from glassformer.training.schedule import learning_rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


STEPS, WARMUP, PEAK = 1000, 300, 0.01
EVERY = 20


def run(setup: LessonSetup) -> Data:
    """The rate at every step of both; the momentum is PyTorch's, as our schedule leaves the betas alone."""
    config = TrainConfig(schedule="one_cycle", steps=STEPS, warmup=WARMUP, learning_rate=PEAK)  # type: ignore[arg-type]
    ours = [learning_rate(step, config, 1) for step in setup.each("one_cycle", range(1, STEPS + 1))]
    theirs, momentum = _torch()
    shown = [*range(1, STEPS, EVERY), STEPS]
    return {
        "steps": STEPS,
        "warmup": WARMUP,
        "peak": max(ours),
        "peak_step": ours.index(max(ours)) + 1,
        "first": ours[0],
        "last": ours[-1],
        "shown": shown,
        "rate": [ours[step - 1] for step in shown],
        "torch_rate": [theirs[step - 1] for step in shown],
        "momentum": [momentum[step - 1] for step in shown],
        "momentum_high": max(momentum),
        "momentum_low": min(momentum),
        "momentum_low_step": momentum.index(min(momentum)) + 1,
        "difference": max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / PEAK,
    }


def _torch() -> tuple[list[float], list[float]]:
    """What torch's OneCycleLR sets before each step: the rate, and the opposite momentum."""
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=PEAK, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=PEAK, total_steps=STEPS, pct_start=WARMUP / STEPS, div_factor=25.0, final_div_factor=1e4
    )
    rates, momentum = [], []
    for step in range(STEPS):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        momentum.append(float(optimizer.param_groups[0]["momentum"]))
        optimizer.step()
        if step < STEPS - 1:
            scheduler.step()
    return rates, momentum


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Two panels over the same steps; a dotted line where the rate turns."""
    figure = theme.figure(9, 5)
    above, below = figure.subplots(2, 1, sharex=True)
    points = [rate if number % 4 == 0 else None for number, rate in enumerate(data["torch_rate"])]  # shows both
    lines(above, theme, data["shown"], {words("ours"): data["rate"], words("torch"): points})
    above.legend(handles=[above.lines[0], above.lines[-1]], labels=[words("ours"), words("torch")])
    above.set_title(words("rate"))
    lines(below, theme, data["shown"], {words("momentum_line"): data["momentum"]})
    below.legend().set_visible(False)
    below.set(title=words("momentum"), xlabel=words("step"))
    for axes in (above, below):
        axes.axvline(data["peak_step"], color=theme.muted, linestyle=":", linewidth=1.2)
    return figure


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"f(p)=b+\tfrac{a-b}{2}(1+\cos\pi p):\quad a\to b,\;0\le p\le 1",
    formula="f(p) = b + (a − b)/2 · (1 + cos πp):   from a to b while p goes from 0 to 1",
    sources=("training/schedule.py",),
    picture="onecycle_lr",
)
