"""What LayerNorm does to a token, that it depends on nothing else, and training without it.

Claims norm-zero-one, norm-batch-free and norm-stabilises; the rules are in `verdicts`.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.norm.layer_norm_experiment import depths_and_rates, inside, with_and_without
from glassformer.lessons.norm.letters import first_gradients, letters
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact, less
from glassformer.show.drawing import hover, lines, logarithmic
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DEPTH = 12  # of the untrained models whose gradients are measured
STEPS = 80
EPSILON = 2.0**-23  # float32's


def run(setup: LessonSetup) -> Data:
    """Inside the trained translator; gradients by depth in both norm orders; trainings with and without norms."""
    material = letters(setup)
    gradients = {
        order: [first_gradients(material, seed, DEPTH, order) for seed in setup.seeds] for order in ("pre", "post")
    }
    rows = []
    for setting in setup.each("with and without norm", depths_and_rates()):
        found = [with_and_without(material, setting, seed, setup.some(STEPS, 3)) for seed in setup.seeds]
        row: dict[str, Any] = {**setting}
        for name in ("loss", "spread"):
            row[name] = {kind: interval([one[kind][name] for one in found]) for kind in ("layer", "none")}
        row["loss"]["less"] = difference(*([one[kind]["loss"] for one in found] for kind in ("layer", "none")))
        # a spread is a scale: scales are compared by ratio, so the logarithms are subtracted
        row["spread"]["less"] = difference(*([log(one[kind]["spread"]) for one in found] for kind in ("layer", "none")))
        row["curve"] = {kind: _mean([one[kind]["curve"] for one in found]) for kind in ("layer", "none")}
        rows.append(row)
    return {
        **inside(setup),
        "depth": DEPTH,
        "gradients": {
            order: [interval(list(at)) for at in zip(*each, strict=True)] for order, each in gradients.items()
        },
        "ratio": {order: sum(one[-1] / one[0] for one in each) / len(each) for order, each in gradients.items()},
        "steps": setup.some(STEPS, 3),
        "settings": rows,
    }


def _mean(curves: list[list[float | None]]) -> list[float | None]:
    """The mean point by point; None if any curve has no number there."""
    means: list[float | None] = []
    for values in zip(*curves, strict=True):
        known = [value for value in values if value is not None]
        means.append(sum(known) / len(known) if len(known) == len(values) else None)
    return means


def verdicts(data: Data) -> dict[str, Verdict]:
    """norm-zero-one, before γ (also called α) and β: every token's mean is 0 and its deviation is 1.

    The mean of d_model rounded numbers may be off by d_model × 2⁻²³; ε lowers the deviation, so it must be
    √(var / (var + ε)) within the same rounding, and at most 1 % below 1.
    norm-batch-free, exact: no output for a sentence changes by one bit when the other sentences of its batch are
    replaced. The tolerance is 0: the same numbers go through the same operations.
    norm-stabilises: with the norm both the loss on unseen text and the spread of the gradient's norm over all steps
    are lower (paired difference; for the spread, of its logarithm). The spread is the deviation of the norm's
    logarithm, so trends count as well as jumps. The sides are the settings, depth / learning rate.
    """
    token, others = data["token"], data["others"]
    rounding = data["d_model"] * EPSILON
    normal = token["mean"] <= rounding and token["off"] <= rounding and token["deviation_low"] > 0.99
    sides = {
        f"{row['depth']}/{row['rate']:g}": {"loss": less(row["loss"]["less"]), "spread": less(row["spread"]["less"])}
        for row in data["settings"]
    }
    measured = {
        "first": _row(data["settings"][0]),
        "last": _row(data["settings"][-1]),
    }
    return {
        "norm-zero-one": Verdict.of(exact(normal), {**token, "d_model": data["d_model"]}),
        "norm-batch-free": Verdict.of(exact(others["layer"] == 0.0), dict(others)),
        "norm-stabilises": Verdict.of(sides, measured),
    }


def _row(row: dict[str, Any]) -> dict[str, Any]:
    names = {"loss": "loss", "spread": "spread"}
    means = {f"{kind}_{name}": row[name][kind]["mean"] for name in names for kind in ("layer", "none")}
    ends = {f"{name}_{end}": row[name]["less"][end] for name in names for end in ("low", "high")}
    return {"depth": row["depth"], "rate": row["rate"], **means, **ends}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Four panels, two in a row."""
    figure = theme.figure(9, 7)
    (left, right), (lower, last) = figure.subplots(2, 2)
    right.sharey(left)
    for axes, name in ((left, "before"), (right, "plain")):
        _tokens(axes, data, theme, words, name)
    layers = list(range(1, data["depth"] + 1))
    curves = {words(order): [at["mean"] for at in data["gradients"][order]] for order in ("pre", "post")}
    lines(lower, theme, layers, curves)
    lower.set_ylim(bottom=0.0)
    lower.set(title=words("gradients"), xlabel=words("layer"))
    hardest = data["settings"][-1]
    curves = {words("with"): hardest["curve"]["layer"], words("without"): hardest["curve"]["none"]}
    points = len(hardest["curve"]["layer"])
    steps = [1 + place * max(1, data["steps"] // points) for place in range(points)]
    lines(last, theme, steps, curves)
    logarithmic(last)
    last.set(title=words("training", depth=hardest["depth"], rate=f"{hardest['rate']:g}"), xlabel=words("step"))
    return figure


def _tokens(axes: Axes, data: Data, theme: Theme, words: PictureWords, name: str) -> None:
    """A line for each token, from one deviation below its mean to one above; both panels share a scale."""
    for place, token in enumerate(data["by_token"][name], 1):
        mean, deviation = token["mean"], token["deviation"]
        ends = [mean - deviation, mean + deviation]
        (line,) = axes.plot([place] * 2, ends, color=theme.blue, linewidth=5, solid_capstyle="butt")
        hover(line, f"{mean:.2f} ± {deviation:.2f}")
        axes.plot([place], [mean], color=theme.vermilion, marker="o", markersize=3)
    axes.set_title(words(name))
    found = data[name]
    axes.set_xlabel(words("number", low=f"{found['low']:.2f}", high=f"{found['high']:.2f}"))
    axes.set_xticks([])


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("norm-zero-one", "norm-batch-free", "norm-stabilises"),
    models=("ko-en",),
    equation=r"\mathrm{LayerNorm}(x)=\gamma\odot\frac{x-\mathrm{mean}(x)}{\sqrt{\mathrm{var}(x)+\varepsilon}}+\beta",
    formula="LayerNorm(x) = γ ⊙ (x − mean(x)) / √(var(x) + ε) + β",
    paper="§3.1, §5.4",
    sources=("layers/norm.py", "layers/residual.py"),
    picture="layer_norm_effects",
)
