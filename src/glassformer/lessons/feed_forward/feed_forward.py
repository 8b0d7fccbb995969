"""The feed-forward network, §3.3: each token by itself, bent once, four times as wide inside.

Claims ffn-per-token, ffn-nonlinear and ffn-four-times; the rules stand in `verdicts`.
"""

from __future__ import annotations

from glassformer.lessons.desk import Desk
from glassformer.lessons.feed_forward.feed_forward_boxes import collapse, curves, independence, silence
from glassformer.lessons.feed_forward.feed_forward_picture import draw
from glassformer.lessons.feed_forward.feed_forward_widths import widths
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.statistics import difference
from glassformer.lessons.verdict import Verdict, Word, exact, greater, judged, less

ROUNDING = 1e-12  # of sums of 32 products in float64, relative to the largest output
CHANCE = 0.02  # R² of a straight line on fresh points: 1 / √1024 is 0.03, so less than that tells nothing


def run(desk: Desk) -> Data:
    """The box by itself, the box in the trained translator, and short trainings of several widths."""
    loaded = desk.model("ko-en")
    layers = silence(desk, loaded)
    return {
        "curves": curves(),
        "independence": independence(loaded),
        "collapse": collapse(desk),
        "silent": layers,
        "silent_trained": sum(row["trained"] for row in layers) / len(layers),
        "silent_fresh": sum(row["fresh"] for row in layers) / len(layers),
        "widths": widths(desk),
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """ffn-per-token, exact: the Jacobian between different positions is 0 for every kind; for the own one it is not.

    ffn-nonlinear: without the activation the network is the product matrix up to rounding, its rank at most d_model;
    it explains no more of y = |x| than the best line does, and the network with ReLU explains more, over all seeds.

    ffn-four-times: a richer representation is one that predicts better, so 4× has a lower loss than 1×. The sides are
    equal parameters, and equal d_model, where 4× has more of them.
    """
    return {
        "ffn-per-token": verdict_per_token(data["independence"]),
        "ffn-nonlinear": verdict_nonlinear(data["collapse"]),
        "ffn-four-times": verdict_four_times(data["widths"]),
    }


def verdict_per_token(found: Data) -> Verdict:
    """See `verdicts`."""
    boxes = found["boxes"].values()
    others, own = max(box["others"] for box in boxes), min(box["own"] for box in boxes)
    measured = {"others": others, "own": own, "kinds": found["kinds"], "attention": found["attention"]["others"]}
    return Verdict(exact(others == 0.0 and own > 0.0), measured)


def verdict_nonlinear(found: Data) -> Verdict:
    """See `verdicts`."""
    parts: dict[str, Word] = {
        "one": exact(found["apart"] <= ROUNDING and found["rank"] <= found["d_model"]),
        "no_better": less(difference(found["straight"]["values"], found["best_line"]["values"]), CHANCE),
        "bend": greater(found["gain"]),
    }
    measured = {key: found[key] for key in ("apart", "rank", "d_model", "d_ff", "bent", "straight", "gain")}
    return judged({"activation": parts}, measured)


def verdict_four_times(found: Data) -> Verdict:
    """See `verdicts`."""
    measured = {
        "one": found["equal"][0],
        "four": found["equal"][2],
        "eight": found["equal"][3],
        **{key: found[key] for key in ("gain_equal", "gain_free", "further_equal", "budget")},
    }
    sides = {"equal_parameters": greater(found["gain_equal"]), "equal_width": greater(found["gain_free"])}
    return judged(sides, measured)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("ffn-per-token", "ffn-nonlinear", "ffn-four-times"),
    models=("ko-en",),
    equation=r"\mathrm{FFN}(x)=\max(0,\,xW_1+b_1)\,W_2+b_2",
    formula="FFN(x) = max(0, x W_1 + b_1) W_2 + b_2",
    paper="§3.3, Eq. (2)",
    sources=("layers/feed_forward/mlp.py", "layers/feed_forward/gated.py", "layers/feed_forward/activation.py"),
    picture="ffn_behavior",
)
