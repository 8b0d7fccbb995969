"""Remembering over a distance, and working in parallel: a Transformer and an LSTM of equal size side by side.

Claims long-range and parallel; the rules stand in `verdicts`.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import Any

from glassformer.lessons.desk import Desk
from glassformer.lessons.families.long_range_picture import draw
from glassformer.lessons.families.recall import DISTANCES, KEYS, LONGEST, STEPS, Course, models, train
from glassformer.lessons.families.steps import chains, times
from glassformer.lessons.lesson import Data, Lesson, Verdict
from glassformer.lessons.statistics import above, difference, interval

KINDS = ("transformer", "lstm")


def run(desk: Desk) -> Data:
    """Recall after training, by distance; then chains of dependent operations and times, by length."""
    courses: dict[str, list[Course]] = {kind: [] for kind in KINDS}
    for seed in desk.each("recall", desk.seeds):
        for kind, model in models(seed).items():
            courses[kind].append(train(model, seed, desk.some(STEPS, 2)))
    timed = times(desk)
    sizes = {kind: sum(p.numel() for p in model.parameters()) for kind, model in models(0).items()}
    return {
        "keys": KEYS,
        "chance": 1 / KEYS,
        "longest": LONGEST,
        "steps": courses["lstm"][0].at[-1],
        "seeds": len(desk.seeds),
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
    """Transformer − LSTM at the longest distance, seed by seed, at the `at`-th look."""
    return difference(*([course.far[at] for course in courses[kind]] for kind in KINDS))


def _bands(curves: list[list[float]]) -> list[dict[str, Any]]:
    """At each point the mean over the seeds with its interval."""
    return [interval(list(column)) for column in zip(*curves, strict=True)]


def _half(courses: dict[str, list[Course]]) -> dict[str, float]:
    """Where they were in the middle of the training, at the longest distance."""
    at = (len(courses["lstm"][0].at) - 1) // 2
    means = {kind: fmean(course.far[at] for course in courses[kind]) for kind in KINDS}
    return {"step": courses["lstm"][0].at[at], **means}


def _early(courses: dict[str, list[Course]]) -> dict[str, Any] | None:
    """The last look at which the Transformer was ahead; None if there was none."""
    for at in reversed(range(len(courses["lstm"][0].at))):
        effect = _ahead(courses, at)
        if above(effect):
            return {"step": courses["lstm"][0].at[at], **effect}
    return None


def verdicts(data: Data) -> dict[str, Verdict]:
    """long-range: at the longest distance, after all steps, the Transformer recalls above chance and above the LSTM.

    Both by the whole 95 % interval over the seeds (paired differences). It depends if it was ahead at some look during
    the training and is no longer at the end; refuted if it never was.

    parallel: one matrix product means that the longest chain of dependent operations does not grow with the length;
    sequential means that it grows by the same number for each token. Both are counted exactly in the graph of the
    computation; if either fails the claim is refuted. What follows from it is time: confirmed if the attention layer is
    faster than the LSTM at every length, it depends if at some lengths only, refuted if at none (1 is the natural
    bound of a ratio of times).
    """
    far, ahead = data["recall"]["transformer"][-1], data["ahead"]
    holds = above(far, data["chance"]) and above(ahead)
    recall = {
        "distance": data["distances"][-1],
        "transformer": far,
        "lstm": data["recall"]["lstm"][-1],
        "ahead": ahead,
        "steps": data["steps"],
        "early": data["early"] or {"step": 0, "mean": 0.0},
        "seeds": data["seeds"],
    }
    return {
        "long-range": Verdict("confirmed" if holds else "depends" if data["early"] else "refuted", recall),
        "parallel": _verdict_parallel(data),
    }


def _verdict_parallel(data: Data) -> Verdict:
    rows, timed = data["chains"], data["times"]
    lengths = [row["length"] for row in rows]
    flat = len({row["attention"] for row in rows}) == 1
    slopes = {(b["lstm"] - a["lstm"]) / (b["length"] - a["length"]) for a, b in pairwise(rows)}
    faster = [row["ratio"] > 1 for row in timed]
    counted = flat and len(slopes) == 1 and slopes.pop() > 0
    measured = {
        "length": lengths[-1],
        "attention": rows[-1]["attention"],
        "lstm": rows[-1]["lstm"],
        "first": {"length": timed[0]["length"], "ratio": timed[0]["ratio"]},
        "last": {"length": timed[-1]["length"], "ratio": timed[-1]["ratio"]},
        "faster": ", ".join(str(row["length"]) for row, one in zip(timed, faster, strict=True) if one) or "–",
        "slower": ", ".join(str(row["length"]) for row, one in zip(timed, faster, strict=True) if not one) or "–",
    }
    if not counted or not any(faster):
        return Verdict("refuted", measured)
    return Verdict("confirmed" if all(faster) else "depends", measured)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("long-range", "parallel"),
    equation=r"h_t=f(h_{t-1},x_t)\quad\text{against}\quad "
    r"Y=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}\right)V",
    formula="h_t = f(h_{t−1}, x_t)   against   Y = softmax(Q Kᵀ / √d_k) V",
    paper="§4, Table 1",
    sources=("layers/attention/multi_head.py", "models/encoder.py"),
)
