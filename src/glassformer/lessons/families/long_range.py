"""Memory over a distance, and parallel computation: a Transformer against an LSTM of equal size.

Claims long-range and parallel; the rules are in `verdicts`.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from glassformer.lessons.families.recall import DISTANCES, KEYS, LONGEST, STEPS, Course, models, train_recall
from glassformer.lessons.families.steps import chains, times
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import above, difference, share, within_one
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact, greater
from glassformer.show.drawing import lines, logarithmic
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


KINDS = ("transformer", "lstm")


def run(setup: LessonSetup) -> Data:
    """Recall by distance after training; then chains of dependent operations and times by length."""
    courses: dict[str, list[Course]] = {kind: [] for kind in KINDS}
    for seed in setup.each("recall", setup.seeds):
        for kind, model in models(seed).items():
            courses[kind].append(train_recall(model, seed, setup.some(STEPS, 2)))
    timed = times(setup)
    sizes = {kind: sum(p.numel() for p in model.parameters()) for kind, model in models(0).items()}
    return {
        "keys": KEYS,
        "chance": 1 / KEYS,
        "longest": LONGEST,
        "steps": courses["lstm"][0].at[-1],
        "seeds": len(setup.seeds),
        "parameters": sizes,
        "distances": list(DISTANCES),
        "recall": {kind: _bands([course.final for course in courses[kind]]) for kind in KINDS},
        "learning": {"step": courses["lstm"][0].at}
        | {kind: _bands([course.far for course in courses[kind]]) for kind in KINDS},
        "half": _half(courses),
        "ahead": _ahead(courses, -1),
        "near_ahead": difference(*([course.final[0] for course in courses[kind]] for kind in KINDS)),
        "early": _early(courses),
        "chains": chains(),
        "times": timed,
        "times_last": timed[-1],
    }


def _ahead(courses: dict[str, list[Course]], at: int) -> dict[str, Any]:
    """Transformer − LSTM at the longest distance, seed by seed, at evaluation number `at`."""
    return difference(*([course.far[at] for course in courses[kind]] for kind in KINDS))


def _bands(curves: list[list[float]]) -> list[dict[str, Any]]:
    """At each point the mean share over the seeds, with its interval."""
    return [share(list(column)) for column in zip(*curves, strict=True)]


def _half(courses: dict[str, list[Course]]) -> dict[str, float]:
    """Recall of both half-way through training, at the longest distance."""
    at = (len(courses["lstm"][0].at) - 1) // 2
    means = {kind: fmean(course.far[at] for course in courses[kind]) for kind in KINDS}
    return {"step": courses["lstm"][0].at[at], **means}


def _early(courses: dict[str, list[Course]]) -> dict[str, Any] | None:
    """The last evaluation at which the Transformer was ahead; None if it never was."""
    for at in reversed(range(len(courses["lstm"][0].at))):
        effect = _ahead(courses, at)
        if above(effect):
            return {"step": courses["lstm"][0].at[at], **effect}
    return None


def verdicts(data: Data) -> dict[str, Verdict]:
    """long-range: at the longest distance the Transformer's recall is above chance and above the LSTM's (paired
    differences over the seeds). The sides are two times: half-way through training and at its end.

    parallel: "one matrix product" means that the longest chain of dependent operations does not grow with the length;
    "sequential" means that it grows by the same number for each token. Both are counted exactly in the computation
    graph. The consequence is time: the attention layer is faster than the LSTM, so the interval of the logarithm of
    their ratio over the rounds is above 0. The sides are the lengths.
    """
    steps = data["learning"]["step"]
    sides = {
        str(step): {
            "chance": greater(data["learning"]["transformer"][steps.index(step)], data["chance"]),
            "lstm": greater(_verdict_ahead(data, steps.index(step))),
        }
        for step in (data["half"]["step"], steps[-1])
    }
    recall = {
        "distance": data["distances"][-1],
        "transformer": data["recall"]["transformer"][-1],
        "lstm": data["recall"]["lstm"][-1],
        "ahead": data["ahead"],
        "steps": data["steps"],
        "early": data["early"] or {"step": 0, "mean": 0.0},
        "seeds": data["seeds"],
    }
    return {"long-range": Verdict.of(sides, recall), "parallel": _verdict_parallel(data)}


def _verdict_ahead(data: Data, at: int) -> dict[str, Any]:
    return difference(*(data["learning"][kind][at] for kind in KINDS))


def _verdict_parallel(data: Data) -> Verdict:
    rows, timed = data["chains"], data["times"]
    flat = len({row["attention"] for row in rows}) == 1
    slopes = {(b["lstm"] - a["lstm"]) / (b["length"] - a["length"]) for a, b in pairwise(rows)}
    parts = {
        "one_product": exact(flat),
        "sequential": exact(len(slopes) == 1 and all(slope > 0 for slope in slopes)),
    }
    sides = {str(row["length"]): {**parts, "faster": greater(row["faster"])} for row in timed}
    measured = {
        "length": rows[-1]["length"],
        "attention": rows[-1]["attention"],
        "lstm": rows[-1]["lstm"],
        "first": {"length": timed[0]["length"], "ratio": timed[0]["ratio"]},
        "last": {"length": timed[-1]["length"], "ratio": timed[-1]["ratio"]},
    }
    return Verdict.of(sides, measured)


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Memory above, time below."""
    figure = theme.figure(9, 6.8)
    (recall, learning), (chains, times) = figure.subplots(2, 2)
    _recall(recall, data["distances"], data["recall"], theme, words)
    recall.axhline(data["chance"], color=theme.muted, linestyle=":")
    logarithmic(recall, "x", base=2)
    recall.set(title=words("recall"), xlabel=words("distance"))
    _recall(learning, data["learning"]["step"], data["learning"], theme, words)
    learning.axhline(data["chance"], color=theme.muted, linestyle=":")
    learning.set(title=words("learning", distance=data["distances"][-1]), xlabel=words("step"))
    for axes, rows, title, form in ((chains, data["chains"], "chains", ".0f"), (times, data["times"], "times", ".3g")):
        curves = {words(name): [row[name] for row in rows] for name in ("attention", "lstm")}
        lines(axes, theme, [row["length"] for row in rows], curves, form=form)
        logarithmic(axes, "x", base=2)
        logarithmic(axes, base=2 if axes is chains else 10)
        axes.set(title=words(title), xlabel=words("length"))
    return figure


def _recall(axes: Axes, x: list[int], found: Data, theme: Theme, words: PictureWords) -> None:
    lines(axes, theme, x, {words(kind): list(map(within_one, found[kind])) for kind in KINDS}, form=".1%")
    axes.set_ylim(0, 1.05)
    axes.yaxis.set_major_formatter("{x:.0%}")


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("long-range", "parallel"),
    seeds=10,  # with 5 the side at the end stayed undecided
    equation=r"h_t=f(h_{t-1},x_t)\quad\text{against}\quad "
    r"Y=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}\right)V",
    formula="h_t = f(h_{t−1}, x_t)   against   Y = softmax(Q Kᵀ / √d_k) V",
    paper="§4, Table 1",
    sources=("layers/attention/multi_head.py", "models/encoder.py"),
)
