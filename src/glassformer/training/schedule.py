"""Learning rates, §5.3: each schedule is a pure function of the step, so a resumed run needs no state for it.

Steps count from 1, as in Eq. (3), and are optimiser steps. All but Eq. (3) give a factor of the peak.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from glassformer.config.recipe import TrainConfig
from glassformer.errors import warn


class Span(NamedTuple):
    """What a schedule may look at besides the step."""

    warmup: int
    steps: int
    d_model: int


def noam(step: int, span: Span, *, factor: float = 1.0) -> float:
    r"""The paper's schedule, §5.3, Eq. (3).

        lrate = d_model^−0.5 · min(step^−0.5, step · warmup^−1.5)

    Rises linearly during warm-up, then falls with the square root of the step; wide models learn in smaller steps.
    Its peak is (d_model · warmup)^−0.5. Differs from the paper: `factor` multiplies it; a recipe's `learning_rate` is
    not used, for Eq. (3) has no such number.
    """
    return factor * span.d_model**-0.5 * min(step**-0.5, step * max(span.warmup, 1) ** -1.5)


def inverse_sqrt(step: int, span: Span) -> float:
    """Eq. (3) with a peak of 1: min(step / warmup, √(warmup / step)), as in fairseq."""
    warmup = max(span.warmup, 1)
    return min(step / warmup, math.sqrt(warmup / step))


def linear(step: int, span: Span, *, floor: float = 0.0) -> float:
    """Up linearly, down linearly: floor + (1 − floor)(1 − p), p = share of the steps after warm-up that are done."""
    return _rise(step, span) or floor + (1.0 - floor) * (1.0 - _share(step, span))


def cosine(step: int, span: Span, *, floor: float = 0.0) -> float:
    """Half a cosine after warm-up (Loshchilov & Hutter 2017): floor + (1 − floor)(1 + cos πp) / 2."""
    return _rise(step, span) or floor + (1.0 - floor) * (1.0 + math.cos(math.pi * _share(step, span))) / 2.0


def one_cycle(step: int, span: Span, *, start: float = 25.0, final: float = 1e4) -> float:
    """One cycle of cosines (Smith & Topin 2019): from 1/start up to 1 in warm-up, then down to 1/(start · final)."""
    top = max(span.warmup, 1) - 1.0
    last = max(span.steps - 1.0, top + 1.0)
    at = min(step - 1.0, last)
    if at <= top:
        return _cosine_between(1.0 / start, 1.0, at / top if top else 1.0)
    return _cosine_between(1.0, 1.0 / (start * final), (at - top) / (last - top))


def cyclic(step: int, span: Span, *, low: float = 0.1, mode: str = "triangular") -> float:
    """Triangles (Smith 2017): up from `low` in `warmup` steps and down again, repeatedly; "triangular2" halves each."""
    half = max(span.warmup, 1)
    cycle = (step - 1) // (2 * half)
    height = 1.0 - abs((step - 1) / half - 2 * cycle - 1.0)
    return low + (1.0 - low) * height / (2.0**cycle if mode == "triangular2" else 1.0)


def constant(step: int, span: Span) -> float:
    """Up linearly, then constant."""
    return _rise(step, span) or 1.0


def _rise(step: int, span: Span) -> float:
    """step / warmup while it lasts, then 0."""
    return step / span.warmup if step <= span.warmup else 0.0


def _share(step: int, span: Span) -> float:
    """The share of the way down that is done before this step: 0 for the first, below 1 for the last."""
    return min((step - 1 - span.warmup) / max(span.steps - span.warmup, 1), 1.0)


def _cosine_between(start: float, end: float, share: float) -> float:
    return end + (start - end) / 2.0 * (1.0 + math.cos(math.pi * share))


SCHEDULES: dict[str, Callable[..., float]] = {
    "noam": noam,
    "inverse_sqrt": inverse_sqrt,
    "linear": linear,
    "cosine": cosine,
    "one_cycle": one_cycle,
    "cyclic": cyclic,
    "constant": constant,
}


SMALLEST = 1e-5  # a highest rate below this hardly moves a weight
FADED = 1e-3  # a rate below this share of the highest for a whole last quarter has faded


def heed(config: TrainConfig, d_model: int) -> None:
    """Warn of a schedule that nobody can have wanted: never warmed up, hardly moving, over long before the end."""
    kind, steps = config.schedule.kind, config.steps
    if kind == "noam" and config.learning_rate is not None:
        warn("rate_unused", rate=config.learning_rate, peak=f"{learning_rate(config.warmup or 1, config, d_model):.2e}")
    rates = [learning_rate(step, config, d_model) for step in range(1, steps + 1, max(steps // 400, 1))]
    highest = max(rates)
    if kind != "cyclic" and config.warmup > steps:
        warn("warmup_beyond_steps", warmup=config.warmup, steps=steps, highest=f"{highest:.2e}")
    elif highest < SMALLEST:
        warn("rate_small", highest=f"{highest:.2e}", schedule=kind)
    elif max(rates[-(len(rates) // 4 or 1) :]) < FADED * highest:
        warn("rate_faded", highest=f"{highest:.2e}", schedule=kind)


def learning_rate(step: int, config: TrainConfig, d_model: int) -> float:
    """The learning rate of one optimiser step."""
    span = Span(config.warmup, config.steps, d_model)
    return config.peak * SCHEDULES[config.schedule.kind](step, span, **config.schedule.options)
