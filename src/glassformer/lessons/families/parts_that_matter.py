"""Which parts a classifier cannot do without: each switched off after training, and left out before it.

Claims ffn-matters, norm-matters and classifier-matters; the rules stand in `verdicts`.
"""

from __future__ import annotations

from typing import Any

from glassformer.lessons.desk import Desk
from glassformer.lessons.families.parts_that_matter_experiment import WAYS, Classifier
from glassformer.lessons.families.parts_that_matter_picture import draw
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.verdict import Verdict, Word, exact, greater, judged
from glassformer.models.presets import PRESETS

HALF = 0.5  # of what was learned
SMALL = 0.01  # of all parameters
SHAPE = {"model.d_model": 32, "model.d_ff": 128}  # two layers, norms first
CLAIMED = {"ffn-matters": "feed_forward", "norm-matters": "norm", "classifier-matters": "classifier"}


def run(desk: Desk) -> Data:
    """Two small classifiers: a pre-norm one, and that of the lesson `parameters`, counted there to the last number."""
    counted = PRESETS["mini-classifier"]()
    mini = {
        "model.d_model": counted.d_model,
        "model.d_ff": counted.d_ff,
        "model.n_heads": counted.n_heads,
        "model.n_encoder_layers": counted.n_encoder_layers,
        "model.norm_order": counted.norm_order,
        "model.max_len": counted.max_len,
        "train.loss": "binary_cross_entropy",  # its head has one number
    }
    return {
        **Classifier(desk, SHAPE).measure(),
        "mini": Classifier(desk, mini, vocab_size=counted.vocab_size).measure(),
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """A part is key, vital or decisive if without it more than half of what was learned is lost: that is the bound for
    the interval over seeds of the lost share of accuracy above guessing; a smaller loss would not deserve the words.
    Small (of the norm) and simple (of the classifier) mean under 1 % of the parameters.

    The sides are both models and both ways: switched off after training, and left out before it. Of the classifier
    only the training is undone or left out: one that gives 0 leaves guessing by construction, which is shown beside.
    """
    return {claim: _verdict_part(data, part) for claim, part in CLAIMED.items()}


def _verdict_part(data: Data, part: str) -> Verdict:
    models = {"small": data, "mini": data["mini"]}
    sides: dict[str, Word | dict[str, Word]] = {}
    for name, model in models.items():
        little: dict[str, Word] = {} if part == "feed_forward" else {"small": exact(model["share"][part] < SMALL)}
        for way in WAYS:
            sides[f"{name}/{way}"] = {**little, "matters": greater(model[way][part]["lost"], HALF)}
    measured: dict[str, Any] = {
        name: {
            "share": model["share"][part],
            "full": model["full"]["accuracy"]["mean"],
            "silenced": model["silenced"]["lost"],
            **{way: model[way][part]["lost"] for way in WAYS},
        }
        for name, model in models.items()
    }
    return judged(sides, {**measured, "chance": data["chance"]})


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=tuple(CLAIMED),
    paper="§3.1–3.3",
    sources=("trace/edit.py", "models/block.py", "layers/head/classifier.py"),
)
