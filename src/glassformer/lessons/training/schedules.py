"""Every schedule of learning rates that the package has, over one training of the same length. No claim."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from glassformer.config.recipe import TrainConfig
from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.training.schedules_picture import draw
from glassformer.training.schedule import SCHEDULES, learning_rate

STEPS, WARMUP, D_MODEL = 1000, 100, 512
EVERY = 20  # steps between two points of a curve


def run(desk: Desk) -> Data:
    """The rate of every step as the training loop asks for it, as a share of its own peak."""
    kinds = {kind: _shares(kind) for kind in desk.each("schedule", SCHEDULES)}
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
