"""The short trainings of this chapter: a small language model of letters on the built-in corpus.

Six layers where depth matters; the rest is the recipe `characters`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from glassformer.lessons.experiment import Experiment
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval

SENTENCES = 2000
D_MODEL = 48
POINTS = 40  # of a curve


def letters(setup: LessonSetup, layers: int, changes: Mapping[str, Any]) -> Experiment:
    """The material and the common settings: no clipping, no weight averaging, the recipe's peak rate of 3e-3."""
    setting = {
        "data.source.count": setup.some(SENTENCES, 400),
        "data.validation": 100,
        "model.d_model": D_MODEL,
        "model.d_ff": 4 * D_MODEL,
        "model.n_decoder_layers": layers,
        "train.batch_tokens": 256,
        "train.clip": 0.0,
        "train.ema": 0.0,
        "train.schedule": "constant",
    }
    return Experiment("characters", {**setting, **changes})


def curve(runs: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Values of every seed at every step → mean and 95 % interval over the seeds, neighbouring steps averaged."""
    length = len(runs[0])
    width = -(-length // POINTS)
    starts = range(0, length, width)
    found = [interval([sum(part := run[at : at + width]) / len(part) for run in runs]) for at in starts]
    return {
        "steps": [min(at + width, length) for at in starts],
        "mean": [one["mean"] for one in found],
        "low": [one["low"] for one in found],
        "high": [one["high"] for one in found],
    }
