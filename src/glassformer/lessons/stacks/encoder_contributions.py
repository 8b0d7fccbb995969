"""How far each layer and each sub-layer of an encoder moves the residual stream, by depth and order of the norms.

Claim early-layers; the rule is in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from glassformer.data.batch import TokenBatch
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.contribution import contributions, halves, slope
from glassformer.lessons.stacks.sentences import batch_of, validation_sentences
from glassformer.lessons.stacks.untrained_picture import untrained
from glassformer.lessons.statistics import difference, differences, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, greater, less
from glassformer.models.build import build
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.show.drawing import bars, lines
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LAYERS, STEPS, SENTENCES = 6, 120, 3000
ORDERS = ("pre", "post")
NAMES = ("self_attention", "feed_forward", "whole")


def run(setup: LessonSetup) -> Data:
    """Six-layer encoders of several seeds in both norm orders; then the encoder of the translator."""
    experiment = Experiment(
        "sentiment",
        {
            "data.source.count": setup.some(SENTENCES, 600),
            "data.source.test": 1,
            "data.validation": 200,
            "text.vocab_size": 700,
            "model.n_encoder_layers": LAYERS,
            "model.d_ff": 128,
            "train.steps": setup.some(STEPS, 2),
            "train.batch_tokens": 640,
            "train.learning_rate": 1e-3,
            "train.warmup": setup.some(50, 1),
            "train.ema": 0.0,
        },
    )
    orders = {order: _order(setup, experiment, order) for order in ORDERS}
    config = experiment.material.config
    return {
        "n_layers": LAYERS,
        "d_model": config.model.d_model,
        "steps": config.train.steps,
        "orders": orders,
        "translator": _translator(setup),
    }


def _order(setup: LessonSetup, experiment: Experiment, order: str) -> dict[str, Any]:
    """The trained models, the same models before training, and what training adds."""
    before, after, accuracy = [], [], []
    for seed in setup.each(f"{order}-norm", setup.seeds):
        outcome = experiment.train(seed, {"model.norm_order": order})
        after.append(_look(experiment, outcome.model))
        before.append(_look(experiment, build(outcome.config.model, seed=seed).eval()))
        accuracy.append(outcome.validation["accuracy"])
    trained, untrained = _depth(after), _depth(before)
    slopes = trained["slopes"], untrained["slopes"]
    return {
        **trained,
        "accuracy": interval(accuracy),
        "untrained": untrained,
        "added": {
            "early": difference(trained["early"], untrained["early"]),
            "slopes": differences(slopes[0], slopes[1], NAMES),
        },
    }


def _depth(seen: list[dict[str, list[float]]]) -> dict[str, Any]:
    """Every part over the layers, mean and interval over the seeds; first half minus last half; the slope."""
    return {
        "curves": {
            name: [interval(list(at)) for at in zip(*(one[name] for one in seen), strict=True)] for name in NAMES
        },
        "early": interval([halves(one["whole"]) for one in seen]),
        "slopes": {name: interval([slope(one[name]) for one in seen]) for name in NAMES},
    }


def _look(experiment: Experiment, model: nn.Module) -> dict[str, list[float]]:
    store, task = experiment.material.validation, experiment.material.task
    assert store is not None
    batch = task.collate([store[i] for i in range(len(store))])
    assert isinstance(batch, TokenBatch)
    mask = batch.mask
    real = torch.ones_like(batch.tokens, dtype=torch.bool) if mask is None else mask  # b t
    return contributions(model, "encoder", lambda: model(batch.tokens, mask), real)


def _translator(setup: LessonSetup) -> dict[str, Any]:
    loaded, model = (found := setup.model("ko-en")), found.model
    assert isinstance(model, EncoderDecoder)
    pairs = validation_sentences(setup.some(100, 10))
    batch = batch_of(loaded.config, loaded.vocabularies, pairs)
    mask = batch.source_mask
    real = torch.ones_like(batch.source, dtype=torch.bool) if mask is None else mask  # b s

    def encode() -> Tensor:
        return model.encode(batch.source, mask)

    found_here = contributions(model, "encoder", encode, real)
    return {"sentences": len(pairs), "n_layers": len(found_here["whole"]), **found_here}


def verdicts(data: Data) -> dict[str, Verdict]:
    """The sides are pre-norm and post-norm. Each has three parts, over the seeds.

    early: the mean relative update of the first half of the layers is above that of the last half. The updates of
    self-attention and of feed-forward fall with depth: their slopes are below 0. There is no margin: the claim names a
    direction, not a size.
    The claim is about trained models, so they are judged; the same models before training are a control, which was
    added after the first result and is not judged.
    """
    sides = {
        order: {
            "early": greater(data["orders"][order]["early"]),
            **{name: less(data["orders"][order]["slopes"][name]) for name in ("self_attention", "feed_forward")},
        }
        for order in ORDERS
    }
    measured: dict[str, Any] = {
        order: {
            "early": data["orders"][order]["early"],
            **{name: data["orders"][order]["slopes"][name] for name in NAMES},
            "first": data["orders"][order]["curves"]["whole"][0]["mean"],
            "last": data["orders"][order]["curves"]["whole"][-1]["mean"],
            "untrained": data["orders"][order]["untrained"]["early"],
            "added": data["orders"][order]["added"]["early"],
        }
        for order in ORDERS
    }
    return {"early-layers": Verdict.of(sides, {**measured, "layers": data["n_layers"]})}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Two panels of curves and one of bars."""
    figure = theme.figure(10, 3.9)
    *both, last = figure.subplots(1, 3, width_ratios=(1, 1, 0.8))
    for axes, order in zip(both, ("pre", "post"), strict=True):
        found = data["orders"][order]["curves"]
        layers = range(1, data["n_layers"] + 1)
        lines(axes, theme, layers, {words(name): found[name] for name in NAMES})
        control = data["orders"][order]["untrained"]["curves"]["whole"]
        untrained(axes, layers, control, words("untrained"), theme.series[NAMES.index("whole")])
        axes.legend(fontsize=8)
        axes.set(title=words(order), xlabel=words("layer"))
        axes.set_ylim(bottom=0)
        if order == "pre":
            axes.set_ylabel(words("relative"))
    shown = data["translator"]
    bars(
        last,
        theme,
        [words("layer_n", n=i + 1) for i in range(shown["n_layers"])],
        {words(name): shown[name] for name in NAMES},
        form=".2f",
    )
    last.legend(fontsize=8)
    last.set_title(words("translator"))
    last.set_ylim(top=1.35 * max(max(shown[name]) for name in NAMES))
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("early-layers",),
    models=("ko-en",),
    equation=r"\text{relative update}=\frac{\lVert f(x)\rVert}{\lVert x\rVert}",
    formula="relative update = ‖f(x)‖ / ‖x‖",
    paper="§3.1",
    sources=("models/block.py", "layers/residual.py"),
    picture="encoder_layer_contributions",
)
