"""Which parts a classifier cannot do without: each switched off after training, and left out before it.

Claims ffn-matters, norm-matters and classifier-matters; the rules stand in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.families.parts_that_matter_experiment import WAYS, Classifier
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import within_one
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, Word, exact, greater
from glassformer.models.presets import PRESETS
from glassformer.show.drawing import bars
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


HALF = 0.5  # of what was learned
SMALL = 0.01  # of all parameters
SHAPE = {"model.d_model": 32, "model.d_ff": 128}  # two layers, norms first
CLAIMED = {"ffn-matters": "feed_forward", "norm-matters": "norm", "classifier-matters": "classifier"}


def run(setup: LessonSetup) -> Data:
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
        **Classifier(setup, SHAPE).measure(),
        "mini": Classifier(setup, mini, vocab_size=counted.vocab_size).measure(),
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
    sides = {}
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
    return Verdict.of(sides, {**measured, "chance": data["chance"]})


PARTS = ("attention", "feed_forward", "norm", "classifier")


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Left: how large. Right: how much accuracy is left."""
    figure = theme.figure(10, 4)
    size, lost = figure.subplots(1, 2, width_ratios=(1, 1.9), sharey=True)
    labels = [words(part) for part in PARTS]
    bars(size, theme, labels, {words("share"): [data["share"][part] for part in PARTS]}, form=".2%", horizontal=True)
    size.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    size.margins(x=0.3)
    size.set_title(words("share"))
    groups = {words(way): [within_one(data[way][part]["accuracy"]) for part in PARTS] for way in WAYS}
    bars(lost, theme, labels, groups, form=".0%", horizontal=True)
    lost.invert_yaxis()
    for value, name in ((data["full"]["accuracy"]["mean"], "full"), (data["chance"], "chance")):
        lost.axvline(value, color=theme.muted, linestyle=":", linewidth=1.4)
        lost.annotate(
            words(name, value=f"{value:.0%}"),
            (value, 1.0),
            (0, 2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8,
            color=theme.muted,
        )
    lost.set_xlim(0, 1.12)
    lost.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    lost.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
    lost.set_title(words("accuracy"), pad=18)
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=tuple(CLAIMED),
    paper="§3.1–3.3",
    sources=("trace/edit.py", "models/block.py", "layers/head/classifier.py"),
)
