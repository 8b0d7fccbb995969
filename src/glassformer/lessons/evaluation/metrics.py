"""Training and validation curves of a model with too little data: where overfitting starts, and for which metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.data.store import Store
from glassformer.lessons.experiment import CPU, Experiment
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval
from glassformer.lessons.texts import PictureWords
from glassformer.models.build import build
from glassformer.show.drawing import hover, lines
from glassformer.show.theme import Theme
from glassformer.training.state import TrainingState

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FEW, MANY = 200, 2000  # sentence pairs to learn from
STEPS, EVERY = 240, 20
SMALL = {"d_model": 32, "d_ff": 128, "n_heads": 4, "n_encoder_layers": 1, "n_decoder_layers": 1, "dropout": 0.0}
SETTINGS = {"train.learning_rate": 3e-3, "train.warmup": 40, "train.schedule": "constant", "train.ema": 0.0}
LOOKED_AT = 150  # training sentences, and as many validation sentences, that are evaluated


def run(setup: LessonSetup) -> Data:
    """The same small translator on few and on many sentences; both parts are evaluated every 20 steps."""
    changes = {"data.source.count": MANY, "data.validation": LOOKED_AT, "text.vocab_size": 1000, "train.pool": 1}
    experiment = Experiment("ko-en", {**changes, **SETTINGS, **{f"model.{key}": value for key, value in SMALL.items()}})
    seeds = {"few": setup.seeds, "many": setup.seeds}
    found: dict[str, Any] = {}
    for name, number in (("few", FEW), ("many", MANY)):
        curves = [_curves(setup, experiment, number, seed) for seed in setup.each(name, seeds[name])]
        found[name] = {"pairs": number, **_summary(curves)}
    return {**found, "steps": found["few"]["step"][-1], "seeds": len(setup.seeds)}


def _curves(setup: LessonSetup, experiment: Experiment, number: int, seed: int) -> dict[str, list[float]]:
    """Loss and accuracy on training and validation sentences, every `EVERY` steps."""
    config = experiment.config({}, seed)
    store = experiment.material.training
    assert isinstance(store, Store)
    some = store.select(np.arange(min(number, len(store))))
    seen = some.select(np.arange(min(LOOKED_AT, len(some))))
    trained = TrainingState.begin(config, build(config.model, seed=seed), experiment.material.task, some, CPU)
    found: dict[str, list[float]] = {name: [] for name in ("step", *NAMES)}
    for step in range(setup.some(STEPS, 2 * EVERY) + 1):
        if step % EVERY == 0:
            found["step"].append(step)
            for part, examples in (("training", seen), ("validation", None)):
                metrics = experiment.validate(trained.model, config, examples)
                for metric in ("loss", "accuracy"):
                    found[f"{part}_{metric}"].append(metrics[metric])
        trained.advance()
    return found


NAMES = tuple(f"{part}_{metric}" for metric in ("loss", "accuracy") for part in ("training", "validation"))


def _summary(curves: list[dict[str, list[float]]]) -> dict[str, Any]:
    """Means with intervals, and for each seed the step at which the validation curve turns."""
    steps = curves[0]["step"]
    bands = {
        name: [interval(list(column)) for column in zip(*(one[name] for one in curves), strict=True)] for name in NAMES
    }
    lowest = [int(np.argmin(one["validation_loss"])) for one in curves]
    best = [int(np.argmax(one["validation_accuracy"])) for one in curves]
    return {
        "step": steps,
        **{name: [{key: band[key] for key in ("mean", "low", "high")} for band in bands[name]] for name in NAMES},
        "turns": interval([float(steps[at]) for at in lowest]),
        "lowest": interval([one["validation_loss"][at] for one, at in zip(curves, lowest, strict=True)]),
        "last": interval([one["validation_loss"][-1] for one in curves]),
        "training_last": interval([one["training_loss"][-1] for one in curves]),
        "accuracy_turns": interval([float(steps[at]) for at in best]),
        "accuracy_at_turn": interval([one["validation_accuracy"][at] for one, at in zip(curves, lowest, strict=True)]),
        "accuracy_last": interval([one["validation_accuracy"][-1] for one in curves]),
    }


PARTS = ("training", "validation")


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Loss above, accuracy below; few on the left, many on the right."""
    figure = theme.figure(9, 6.6)
    panels = figure.subplots(2, 2, sharex=True, sharey="row")
    for column, name in enumerate(("few", "many")):
        found = data[name]
        for row, metric in enumerate(("loss", "accuracy")):
            axes = panels[row][column]
            lines(axes, theme, found["step"], {words(part): found[f"{part}_{metric}"] for part in PARTS})
            turn = found["turns"]["mean"]
            line = axes.axvline(turn, color=theme.muted, linestyle=":")
            hover(line, f"{words('turn')}: {turn:.0f}")
            axes.set_title(words(metric, pairs=f"{found['pairs']:,}"))
        panels[1][column].set_xlabel(words("step"))
    panels[0][0].set_ylim(bottom=0)
    panels[1][0].yaxis.set_major_formatter("{x:.0%}")
    return figure


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"\hat s=\operatorname*{arg\,min}_s L_{\mathrm{validation}}(\theta_s)",
    formula="ŝ = argmin_s L_validation(θ_s)",
    paper="§6.1",
    sources=("training/validate.py", "metrics/language.py", "training/loop.py"),
    picture="metric_comparison",
)
