"""What the three sub-layers of a decoder contribute, layer by layer: how far they move the stream, and their worth.

Claim sublayer-order; the rule is in `verdicts`.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from glassformer.data.batch import PairBatch
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.contribution import SUBLAYERS, contributions
from glassformer.lessons.stacks.sentences import batch_of, validation_sentences
from glassformer.lessons.stacks.small_translators import SmallTranslators
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, greater
from glassformer.losses import IGNORE, cross_entropy
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.show.drawing import bars
from glassformer.show.theme import Theme
from glassformer.trace.edit import edit, zero

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LAYERS = {"model.n_encoder_layers": 2, "model.n_decoder_layers": 3}
NAMES = SUBLAYERS["decoder"]
MEASURES = ("update", "worth")
JUDGED = 200  # sentences


def run(setup: LessonSetup) -> Data:
    """Small translators of several seeds with three decoder layers, and the trained translator with its two."""
    translators = SmallTranslators(setup, LAYERS)
    material = translators.material
    pairs = validation_sentences(setup.some(JUDGED, 10))
    batch = batch_of(material.config, material.vocabularies, pairs)
    seen, accuracy = [], []
    for _, outcome in translators.each():
        seen.append(look(outcome.model, batch))
        accuracy.append(outcome.validation["accuracy"])
    loaded = setup.model("ko-en")
    trained = look(loaded.model, batch_of(loaded.config, loaded.vocabularies, pairs))
    means = {m: {name: [fmean(one[m][name]) for one in seen] for name in NAMES} for m in MEASURES}
    return {
        "n_layers": LAYERS["model.n_decoder_layers"],
        "steps": material.config.train.steps,
        "d_model": material.config.model.d_model,
        "sentences": len(pairs),
        "accuracy": interval(accuracy),
        "curves": {m: {name: _by_layer([one[m][name] for one in seen]) for name in NAMES} for m in MEASURES},
        "means": {m: {name: interval(means[m][name]) for name in NAMES} for m in MEASURES},
        "first": {m: difference(means[m]["self_attention"], means[m]["feed_forward"]) for m in MEASURES},
        "second": {m: difference(means[m]["feed_forward"], means[m]["cross_attention"]) for m in MEASURES},
        "together": {name: interval([one["together"][name][0] for one in seen]) for name in NAMES},
        "trained": {**trained, "n_layers": len(trained["update"]["self_attention"])},
    }


def _by_layer(values: list[list[float]]) -> list[dict[str, Any]]:
    return [interval(list(at)) for at in zip(*values, strict=True)]


def look(model: nn.Module, batch: PairBatch) -> dict[str, dict[str, list[float]]]:
    """update: ‖f(x)‖/‖x‖ of each sub-layer; worth: how much the loss rises when it alone is switched off.

    together: how much it rises when all sub-layers of a kind are off; used in the text only.
    """
    assert isinstance(model, EncoderDecoder) and batch.target_in is not None
    real = batch.target_out != IGNORE  # b t

    def run_decoder() -> torch.Tensor:
        logits: torch.Tensor = model(batch.source, batch.target_in, batch.source_mask)
        return logits

    update = contributions(model, "decoder", run_decoder, real)
    with torch.no_grad():
        whole = _loss(run_decoder(), batch)
        worth: dict[str, list[float]] = {name: [] for name in NAMES}
        for layer in range(len(model.decoder.blocks)):
            for name in NAMES:
                with edit(model, {f"decoder.blocks.{layer}.{name}.output": zero()}):
                    worth[name].append(_loss(run_decoder(), batch) - whole)
        together = {}
        for name in NAMES:
            with edit(model, {f"decoder.blocks.*.{name}.output": zero()}):
                together[name] = [_loss(run_decoder(), batch) - whole]
    return {"update": {name: update[name] for name in NAMES}, "worth": worth, "together": together}


def _loss(logits: torch.Tensor, batch: PairBatch) -> float:
    """Nats per token."""
    found = cross_entropy(logits, batch.target_out)
    return float(found.total / found.count)


def verdicts(data: Data) -> dict[str, Verdict]:
    """ "Contribution" has two readings, both fixed before the first result and each averaged over the layers.

    update: how far the sub-layer moves the stream, ‖f(x)‖/‖x‖. worth: by how much the loss rises without it.
    These are the sides. Each has two parts, as paired differences over the seeds: self-attention contributes more than
    feed-forward, and feed-forward more than cross-attention.
    """
    sides = {
        reading: {"first": greater(data["first"][reading]), "second": greater(data["second"][reading])}
        for reading in MEASURES
    }
    measured = {
        **{m: {name: data["means"][m][name] for name in NAMES} for m in MEASURES},
        "first": data["first"],
        "second": data["second"],
        "seeds": data["first"]["update"]["n"],
    }
    return {"sublayer-order": Verdict.of(sides, measured)}


SHOWN_NAMES = ("self_attention", "cross_attention", "feed_forward")


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above: several seeds with their intervals; below: the one trained model."""
    figure = theme.figure(10, 6.6)
    grid = figure.subplots(2, 2)
    for column, measure in enumerate(("update", "worth")):
        axes = grid[0][column]
        found = data["curves"][measure]
        labels = [words("layer", n=i + 1) for i in range(data["n_layers"])]
        bars(axes, theme, labels, {words(name): found[name] for name in SHOWN_NAMES}, form=".2f")
        axes.set_title(words(f"{measure}_seeds"))
        highest = max(at["high"] for name in SHOWN_NAMES for at in found[name])
        axes.set_ylim(top=1.3 * highest)
        below = grid[1][column]
        shown = data["trained"]
        labels = [words("layer", n=i + 1) for i in range(shown["n_layers"])]
        bars(below, theme, labels, {words(name): shown[measure][name] for name in SHOWN_NAMES}, form=".2f")
        below.set_title(words(f"{measure}_trained"))
        below.set_ylim(top=1.3 * max(max(shown[measure][name]) for name in SHOWN_NAMES))
        for each in (axes, below):
            each.legend(fontsize=8, ncols=3, loc="upper center")
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("sublayer-order",),
    models=("ko-en",),
    equation=r"\text{update}=\frac{\lVert f(x)\rVert}{\lVert x\rVert},\qquad \text{worth}=L_{\text{without }f}-L",
    formula="update = ‖f(x)‖ / ‖x‖,  worth = loss without f − loss",
    paper="§3.1",
    sources=("models/block.py", "trace/edit.py"),
    picture="decoder_layer_contributions",
)
