"""LayerNorm, RMSNorm and BatchNorm in one translator, with few sentences in a batch and with lengths that differ.

Claim layer-not-batch; the rule stands in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.norm.norm_kinds_experiment import KINDS, SIZES, experiment, padded_share, train
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, greater
from glassformer.show.drawing import bars
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


STEPS = 140


def run(setup: LessonSetup) -> Data:
    """Each kind of norm with each size of batch, the same seeds, data and number of steps for all."""
    material = experiment(setup)
    rows: list[dict[str, Any]] = []
    for size in setup.each("sentences in a batch", SIZES):
        outcomes = {
            kind: [train(material, kind, size, seed, setup.some(STEPS, 2)) for seed in setup.seeds] for kind in KINDS
        }
        row: dict[str, Any] = {"size": size, "padding": padded_share(material, size, setup.seeds[0])}
        for kind, found in outcomes.items():
            row[kind] = {name: interval([one[name] for one in found]) for name in found[0]}
        for kind in ("rms", "batch", "batch_real"):
            row[f"{kind}_more"] = difference(
                [one["loss"] for one in outcomes[kind]], [one["loss"] for one in outcomes["layer"]]
            )
        rows.append(row)
    return {"steps": setup.some(STEPS, 2), "rows": rows, "first": rows[0], "last": rows[-1]}


def verdicts(data: Data) -> dict[str, Verdict]:
    """LayerNorm is the better choice if BatchNorm ends with a higher loss on unseen sentences.

    The loss is that of evaluation mode, in which a model is used, so the gap between the modes is part of it; paired
    differences over the seeds. BatchNorm is taken as it is, padding counted, and with padding left out of its averages;
    both have to be worse than LayerNorm. The sides are the sizes of a batch.
    """
    sides = {
        str(row["size"]): {"batch": greater(row["batch_more"]), "batch_real": greater(row["batch_real_more"])}
        for row in data["rows"]
    }
    first, last = data["rows"][0], data["rows"][-1]
    measured: dict[str, Any] = {"steps": data["steps"]}
    for name, row in (("small", first), ("large", last)):
        measured[name] = {
            "size": row["size"],
            **{kind: row[kind]["loss"]["mean"] for kind in KINDS},
            "gap": row["batch"]["gap"]["mean"],
            "gap_real": row["batch_real"]["gap"]["mean"],
            "gap_layer": row["layer"]["gap"]["mean"],
            **{
                f"{kind}_{end}": row[f"{kind}_more"][end] for kind in ("batch", "batch_real") for end in ("low", "high")
            },
        }
    return {"layer-not-batch": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above the loss, below the gap."""
    figure = theme.figure(8.5, 6.4)
    labels = [words("size", n=row["size"]) for row in data["rows"]]
    for axes, name in zip(figure.subplots(2, 1), ("loss", "gap"), strict=True):
        groups = {words(kind): [row[kind][name] for row in data["rows"]] for kind in KINDS}
        bars(axes, theme, labels, groups, form=".2f")
        axes.set_title(words(name))
        axes.margins(y=0.12)
        axes.set_ylim(bottom=0.0)
        if name == "loss":
            axes.get_legend().remove()
        else:
            axes.legend(loc="upper right")
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("layer-not-batch",),
    equation=r"\hat{x}=\gamma\odot\frac{x-\mathrm{mean}(x)}{\sqrt{\mathrm{var}(x)+\varepsilon}}+\beta",
    formula="y = γ ⊙ (x − mean(x)) / √(var(x) + ε) + β;  the mean is taken over a token (LayerNorm) or over the batch",
    paper="§3.1",
    sources=("layers/norm.py", "lessons/norm/batch_norm.py"),
)
