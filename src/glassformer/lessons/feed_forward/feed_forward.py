"""The feed-forward network, §3.3: each token by itself, one nonlinearity, four times as wide inside.

Claims ffn-per-token, ffn-nonlinear and ffn-four-times; the rules are in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.feed_forward.feed_forward_boxes import collapse, curves, independence, silence
from glassformer.lessons.feed_forward.feed_forward_widths import widths
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact, greater, less
from glassformer.show.drawing import bars, hover, logarithmic
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


ROUNDING = 1e-12  # relative to the largest output: sums of 32 products in float64
CHANCE = 0.02  # R² of a line on fresh points: below 1 / √1024 = 0.03 it means nothing


def run(setup: LessonSetup) -> Data:
    """The box alone, the box in the trained translator, and short trainings with several widths."""
    loaded = setup.model("ko-en")
    layers = silence(setup, loaded)
    return {
        "curves": curves(),
        "independence": independence(loaded),
        "collapse": collapse(setup),
        "silent": layers,
        "silent_trained": sum(row["trained"] for row in layers) / len(layers),
        "silent_fresh": sum(row["fresh"] for row in layers) / len(layers),
        "widths": widths(setup),
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """ffn-per-token, exact: for every kind the Jacobian is 0 between different positions and not 0 within a position.

    ffn-nonlinear: without the activation the network equals one matrix up to rounding, of rank at most d_model; it
    explains no more of y = |x| than the best line does, and the network with ReLU explains more, over all seeds.

    ffn-four-times: a richer representation is one that predicts better, so 4× has a lower loss than 1×. The sides are
    equal parameters, and equal d_model (where 4× has more parameters).
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
    return Verdict.of(exact(others == 0.0 and own > 0.0), measured)


def verdict_nonlinear(found: Data) -> Verdict:
    """See `verdicts`."""
    parts = {
        "one": exact(found["apart"] <= ROUNDING and found["rank"] <= found["d_model"]),
        "no_better": less(difference(found["straight"], found["best_line"]), CHANCE),
        "bend": greater(found["gain"]),
    }
    measured = {key: found[key] for key in ("apart", "rank", "d_model", "d_ff", "bent", "straight", "gain")}
    return Verdict.of({"activation": parts}, measured)


def verdict_four_times(found: Data) -> Verdict:
    """See `verdicts`."""
    measured = {
        "one": found["equal"][0],
        "four": found["equal"][2],
        "eight": found["equal"][3],
        **{key: found[key] for key in ("gain_equal", "gain_free", "further_equal", "budget")},
    }
    sides = {"equal_parameters": greater(found["gain_equal"]), "equal_width": greater(found["gain_free"])}
    return Verdict.of(sides, measured)


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Four panels, two by two."""
    figure = theme.figure(9.5, 7)
    (bends, silent), (wide, kinds) = figure.subplots(2, 2)
    _bends(bends, data["curves"], theme, words)
    _silent(silent, data["silent"], theme, words)
    _widths(wide, data["widths"], theme, words)
    _kinds(kinds, data["widths"]["variants"], theme, words)
    return figure


def _bends(axes: Axes, curves: dict[str, list[float]], theme: Theme, words: PictureWords) -> None:
    for number, name in enumerate(("relu", "gelu", "silu")):
        colour, pattern = theme.series[number], theme.lines[number]
        (line,) = axes.plot(curves["x"], curves[name], color=colour, linestyle=pattern, label=words(name))
        hover(line, words(name))
    axes.legend()
    axes.set(title=words("bends"), xlabel="x")


def _kinds(axes: Axes, found: dict[str, Any], theme: Theme, words: PictureWords) -> None:
    for at, (name, row) in enumerate(found.items()):
        loss = row["loss"]
        axes.plot([at, at], [loss["low"], loss["high"]], color=theme.ink, linewidth=1.2)
        (point,) = axes.plot([at], [loss["mean"]], color=theme.blue, marker=theme.markers[0], markersize=8)
        hover(point, f"{words(name)} · {row['parameters']:,}: {loss['mean']:.3f}")
        beside = (at, loss["mean"])
        axes.annotate(f"{loss['mean']:.3f}", beside, (8, 0), textcoords="offset points", va="center", fontsize=9)
    axes.set_xticks(range(len(found)), [words(name) for name in found])
    axes.set_xlim(-0.5, len(found) - 0.4)
    axes.set(title=words("kinds"), ylabel=words("loss"))


def _silent(axes: Axes, rows: list[dict[str, Any]], theme: Theme, words: PictureWords) -> None:
    labels = [words(row["side"], layer=row["layer"] + 1) for row in rows]
    bars(axes, theme, labels, {words(kind): [row[kind] for row in rows] for kind in ("fresh", "trained")}, form=".0%")
    axes.set_ylim(0, 1.3)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    axes.legend(loc="upper left", ncols=2)
    axes.set_title(words("silent"))


def _widths(axes: Axes, found: dict[str, Any], theme: Theme, words: PictureWords) -> None:
    for number, kind in enumerate(("equal", "free")):
        rows = found[kind]
        x = [row["d_ff"] / row["d_model"] for row in rows]
        means, colour = [row["loss"]["mean"] for row in rows], theme.series[number]
        axes.errorbar(
            x,
            means,
            [[mean - row["loss"]["low"] for mean, row in zip(means, rows, strict=True)]] * 2,
            color=colour,
            linestyle="",
            capsize=3,
        )
        axes.plot(x, means, color=colour, linestyle=theme.lines[number], label=words(kind))
        _points(axes, theme, number, x, rows, words(kind))
    logarithmic(axes, "x", base=2)
    axes.legend()
    axes.set(title=words("widths"), xlabel="d_ff / d_model", ylabel=words("loss"))


def _points(axes: Axes, theme: Theme, number: int, x: list[float], rows: list[dict[str, Any]], label: str) -> None:
    for at, row in zip(x, rows, strict=True):
        (point,) = axes.plot([at], [row["loss"]["mean"]], color=theme.series[number], marker=theme.markers[number])
        hover(point, f"{label} · {at:.2g}× · {row['parameters']:,}: {row['loss']['mean']:.3f}")


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
