"""Norm before or after the sub-layer: short trainings at several depths, with and without warm-up.

Claims pre-norm-stable, pre-norm-always and final-norm; the rules are in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.norm.letters import final_loss, letters, stream_sizes, train_letters
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, greater, less
from glassformer.show.drawing import bars, lines, logarithmic
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DEPTHS = (2, 6, 12)
ORDERS = ("pre", "post")
STEPS, LONGER = 80, 240  # for the grid; for the shallow models
WARMUP = 0.3  # share of the steps
SHALLOW, SHALLOW_RATES = 2, (3e-3, 1e-2)


def run(setup: LessonSetup) -> Data:
    """Depth × warm-up × order; the best shallow model of each order; pre-norm without its final norm."""
    material = letters(setup)
    steps, longer = setup.some(STEPS, 3), setup.some(LONGER, 3)
    cells = [_cell(material, setup, depth, warm, steps) for depth in setup.each("depths", DEPTHS) for warm in (0, 1)]
    best = [_shallow(material, setup, rate, longer) for rate in setup.each("shallow", SHALLOW_RATES)]
    final = [_final_norm(material, setup, cell, steps) for cell in setup.each("final norm", cells) if cell["warmup"]]
    return {
        "steps": steps,
        "longer": longer,
        "cells": cells,
        "worst": [_worst(cells, depth) for depth in DEPTHS],
        "shallow": best,
        "final": final,
        "final_longer": _final_norm_longer(best, longer),
    }


def _changes(order: str, warm: int, steps: int) -> dict[str, Any]:
    return {"model.norm_order": order, "train.warmup": round(WARMUP * steps) if warm else 0}


def _cell(material: Experiment, setup: LessonSetup, depth: int, warm: int, steps: int) -> dict[str, Any]:
    """Both orders, all seeds; for the first seed also how the stream grows."""
    found = {
        order: [train_letters(material, seed, depth, steps, _changes(order, warm, steps)) for seed in setup.seeds]
        for order in ORDERS
    }
    losses = {order: [final_loss(one) for one in each] for order, each in found.items()}
    return {
        "depth": depth,
        "warmup": warm,
        **{order: interval(each) for order, each in losses.items()},
        "less": difference(losses["pre"], losses["post"]),
        "stream": {order: stream_sizes(material, each[0]) for order, each in found.items()},
        "diverged": {order: sum(one.diverged for one in each) for order, each in found.items()},
    }


def _worst(cells: list[dict[str, Any]], depth: int) -> dict[str, Any]:
    """For every seed the worse loss of the two, with and without warm-up."""
    here = [cell for cell in cells if cell["depth"] == depth]
    worse = {
        order: [max(pair) for pair in zip(*(cell[order]["values"] for cell in here), strict=True)] for order in ORDERS
    }
    return {
        "depth": depth,
        **{order: interval(each) for order, each in worse.items()},
        "less": difference(worse["pre"], worse["post"]),
    }


def _shallow(material: Experiment, setup: LessonSetup, rate: float, steps: int) -> dict[str, Any]:
    """Two layers with warm-up and half a cosine of decay, trained for longer at one learning rate.

    "open" is pre-norm without the final norm.
    """
    ended = {"train.schedule": "cosine", "train.learning_rate": rate}
    variants = {
        **{order: _changes(order, 1, steps) for order in ORDERS},
        "open": {**_changes("pre", 1, steps), "model.final_norm": False},
    }
    losses = {
        name: [final_loss(train_letters(material, seed, SHALLOW, steps, {**changes, **ended})) for seed in setup.seeds]
        for name, changes in variants.items()
    }
    return {"rate": rate, **{name: interval(each) for name, each in losses.items()}}


def _final_norm(material: Experiment, setup: LessonSetup, cell: dict[str, Any], steps: int) -> dict[str, Any]:
    """Pre-norm without the final norm against the cell that has it, and how the stream grows with it."""
    without = [
        train_letters(material, seed, cell["depth"], steps, {**_changes("pre", 1, steps), "model.final_norm": False})
        for seed in setup.seeds
    ]
    sizes = cell["stream"]["pre"]
    compared = _compared(cell["pre"], interval([final_loss(one) for one in without]))
    return {"depth": cell["depth"], "steps": steps, **compared, "first": sizes[0], "last": sizes[-1]}


def _final_norm_longer(shallow: list[dict[str, Any]], steps: int) -> dict[str, Any]:
    """The same for the longer trainings, each at its better learning rate."""
    best = {name: min((row[name] for row in shallow), key=lambda found: found["mean"]) for name in ("pre", "open")}
    return {"depth": SHALLOW, "steps": steps, **_compared(best["pre"], best["open"])}


def _compared(kept: dict[str, Any], left_out: dict[str, Any]) -> dict[str, Any]:
    return {"with": kept, "without": left_out, "more": difference(left_out, kept)}


def verdicts(data: Data) -> dict[str, Verdict]:
    """pre-norm-stable: stable means good even in the worse of two settings, with and without warm-up: the worse loss of
    pre-norm is below that of post-norm. The sides are the depths.
    pre-norm-always: pre-norm has the lower loss. The sides are the best final loss of each order, over the learning
    rates, shallow and warmed up; and the deepest cell without warm-up.
    final-norm: the loss without it is higher. The sides are every depth after the short training, and the smallest
    after the longer one.
    """
    return {
        "pre-norm-stable": _verdict_stable(data),
        "pre-norm-always": _verdict_always(data),
        "final-norm": _verdict_final(data),
    }


def _verdict_stable(data: Data) -> Verdict:
    rows = data["worst"]
    measured = {
        name: {"depth": row["depth"], **{order: row[order]["mean"] for order in ORDERS}, **_verdict_ends(row["less"])}
        for name, row in (("shallow", rows[0]), ("deep", rows[-1]))
    }
    return Verdict.of({str(row["depth"]): less(row["less"]) for row in rows}, measured)


def _verdict_always(data: Data) -> Verdict:
    best = {order: min(data["shallow"], key=lambda row: row[order]["mean"]) for order in ORDERS}
    shallow = difference(best["pre"]["pre"], best["post"]["post"])
    deep = next(cell for cell in reversed(data["cells"]) if not cell["warmup"])
    measured = {
        "shallow": {
            "depth": SHALLOW,
            **{order: best[order][order]["mean"] for order in ORDERS},
            **{f"{order}_rate": best[order]["rate"] for order in ORDERS},
            **_verdict_ends(shallow),
        },
        "deep": {
            "depth": deep["depth"],
            **{order: deep[order]["mean"] for order in ORDERS},
            **_verdict_ends(deep["less"]),
        },
    }
    return Verdict.of({"shallow": less(shallow), "deep": less(deep["less"])}, measured)


def _verdict_final(data: Data) -> Verdict:
    rows = [*data["final"], data["final_longer"]]
    deepest = data["final"][-1]
    measured: dict[str, Any] = {"first": deepest["first"], "last": deepest["last"]}
    for name, row in (("shallow", rows[0]), ("deep", deepest), ("longer", rows[-1])):
        losses = {kind: row[kind]["mean"] for kind in ("with", "without")}
        measured[name] = {"depth": row["depth"], "steps": row["steps"], **losses, **_verdict_ends(row["more"])}
    return Verdict.of({f"{row['depth']}/{row['steps']}": greater(row["more"]) for row in rows}, measured)


def _verdict_ends(effect: dict[str, Any]) -> dict[str, Any]:
    return {"effect": effect["mean"], "low": effect["low"], "high": effect["high"]}


KINDS = ("with", "without")


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above: the two columns of the grid. Below: the stream by layer, and pre-norm without its final norm."""
    figure = theme.figure(9, 7)
    (cold, warm), (stream, final) = figure.subplots(2, 2)
    highest = max(cell[order]["high"] or 0.0 for cell in data["cells"] for order in ORDERS)
    for axes, warmup in ((cold, 0), (warm, 1)):
        cells = [cell for cell in data["cells"] if cell["warmup"] == warmup]
        curves = {words(order): [cell[order] for cell in cells] for order in ORDERS}
        lines(axes, theme, [cell["depth"] for cell in cells], curves)
        axes.set(title=words("warm" if warmup else "cold"), xlabel=words("depth"))
        axes.set_xticks([cell["depth"] for cell in cells])
        axes.set_ylim(0, 1.25 * highest)
    cold.set_ylabel(words("loss"))
    deepest = data["cells"][-1]
    sizes = {words(order): deepest["stream"][order] for order in ORDERS}
    lines(stream, theme, list(range(deepest["depth"] + 1)), sizes)
    logarithmic(stream)
    stream.set(title=words("stream", depth=deepest["depth"]), xlabel=words("layer"))
    rows = [*data["final"], data["final_longer"]]
    groups = {words(f"{kind}_final"): [row[kind] for row in rows] for kind in KINDS}
    labels = [words("layers", depth=row["depth"], steps=row["steps"]) for row in rows]
    bars(final, theme, labels, groups, form=".2f")
    final.set_title(words("final"))
    final.margins(y=0.3)
    final.legend(loc="upper center", ncols=2)
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("pre-norm-stable", "pre-norm-always", "final-norm"),
    equation=r"\text{post: }x\leftarrow\mathrm{LayerNorm}(x+f(x))\qquad"
    r"\text{pre: }x\leftarrow x+f(\mathrm{LayerNorm}(x))",
    formula="post: x ← LayerNorm(x + f(x));  pre: x ← x + f(LayerNorm(x))",
    paper="§3.1, §5.3, §5.4",
    sources=("layers/residual.py", "models/stack.py", "training/schedule.py"),
)
