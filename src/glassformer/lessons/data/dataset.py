"""A data set from inside: lengths, the share of padding in a batch, how often each token occurs."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glassformer.data.documents import topics
from glassformer.data.sampler import Sampler
from glassformer.data.store import Store
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.show.drawing import bars, hover, logarithmic
from glassformer.show.theme import Theme
from glassformer.training.validate import make_sampler

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SENTENCES = 8000
LEAST_COUNT = 10  # a rank is trusted if its token occurs this often
POINTS = 60  # of the curve over ranks
ORDERS = {"random": 1, "pools": 10, "sorted": 0}  # `train.pool`: batches sorted by length together; 0: all


def run(setup: LessonSetup) -> Data:
    """A smaller training part of ko-en: tokens of both languages."""
    changes = {"data.source.count": setup.some(SENTENCES, 2000), "data.validation": 40, "text.vocab_size": 1000}
    experiment = Experiment("ko-en", changes)
    store = experiment.material.training
    assert isinstance(store, Store)
    batches = {}
    for name, pool in setup.each("padding", ORDERS.items()):
        config = experiment.config({"train.pool": pool}, seed=0)
        batches[name] = _padding(make_sampler(store, experiment.material.task, config.train))
    longest = store.lengths + experiment.material.task.extra_tokens
    batches["longest"] = {"waste": float(1 - longest.mean() / longest.max()), "batches": 0}
    lengths = {name: store.lengths[:, side] for side, name in enumerate(store.fields)}
    return {
        "sentences": len(store),
        "batch_tokens": experiment.material.config.train.batch_tokens,
        "vocab_size": experiment.material.config.model.vocab_size,
        "lengths": {name: _lengths(values) for name, values in lengths.items()},
        "padding": batches,
        "zipf": {name: _zipf(field.tokens) for name, field in store.fields.items()} | {"natural": _zipf(_natural())},
    }


def _padding(sampler: Sampler) -> dict[str, Any]:
    """waste = 1 − real tokens / positions, over all batches of an epoch, source and target."""
    batches = sampler.batches(0)
    real = sum(int(sampler.lengths[batch].sum()) for batch in batches)
    places = sum(int(sampler.lengths[batch].max(axis=0).sum()) * len(batch) for batch in batches)
    return {"waste": 1 - real / places, "batches": len(batches)}


def _natural() -> NDArray[np.int32]:
    """The words of natural text as ids: the help texts that come with Python."""
    words = np.array(" ".join(topics("train").texts).lower().split())
    return np.unique(words, return_inverse=True)[1].astype(np.int32)


def _lengths(values: NDArray[np.int64]) -> dict[str, Any]:
    return {"counts": np.bincount(values).tolist(), "mean": float(values.mean()), "longest": int(values.max())}


def _zipf(tokens: NDArray[np.int32]) -> dict[str, Any]:
    """Zipf (1949): f(r) ≈ c / r^s, so log f = log c − s log r; s by least squares, ranks evenly spread in log r."""
    counts = np.sort(np.bincount(tokens))[::-1]
    counts = counts[counts > 0]
    trusted = max(int((counts >= LEAST_COUNT).sum()), 2)
    ranks = np.unique(np.geomspace(1, trusted, POINTS).round().astype(int))
    shares = counts / counts.sum()
    x, y = np.log(ranks), np.log(shares[ranks - 1])
    slope, start = np.polyfit(x, y, 1)
    left = ((y - start - slope * x) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    return {
        "ranks": ranks.tolist(),
        "shares": shares[ranks - 1].tolist(),
        "exponent": float(-slope),
        "start": float(np.exp(start)),
        "r_squared": float(1 - left),
        "tokens": int(counts.sum()),
        "kinds": len(counts),
        "half": int(np.searchsorted(np.cumsum(shares), 0.5) + 1),
        "entropy": float(-(shares * np.log(shares)).sum()),
        "largest_entropy": log(len(counts)),
    }


SHOWN_ORDERS = ("longest", "random", "pools", "sorted")
SIDES = ("source", "target")


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Lengths above; padding and Zipf's law below."""
    figure = theme.figure(9, 7)
    panels = figure.subplot_mosaic([["lengths", "lengths"], ["padding", "zipf"]])
    left, right = panels["padding"], panels["zipf"]
    _draw_lengths(panels["lengths"], data, theme, words)
    bars(
        left,
        theme,
        [words(name) for name in SHOWN_ORDERS],
        {"": [data["padding"][n]["waste"] for n in SHOWN_ORDERS]},
        form=".1%",
    )
    left.yaxis.set_major_formatter("{x:.0%}")
    left.set_title(words("padding"))
    _draw_zipf(right, data, theme, words)
    return figure


def _draw_lengths(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    for number, side in enumerate(SIDES):
        counts = data["lengths"][side]["counts"]
        places = [length + (number - 0.5) * 0.42 for length in range(len(counts))]
        drawn = axes.bar(places, counts, 0.4, color=theme.series[number], label=words(side))
        for length, bar in enumerate(drawn):
            hover(bar, f"{words(side)} · {length}: {counts[length]:,}")
    axes.set(title=words("lengths"), xlabel=words("tokens"))
    axes.grid(visible=False, axis="x")
    axes.legend()


def _draw_zipf(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    """Counted frequencies as points, the fit as a line."""
    for number, side in enumerate((*SIDES, "natural")):
        found, colour = data["zipf"][side], theme.series[number]
        ranks, shares = found["ranks"], found["shares"]
        for rank, share in zip(ranks, shares, strict=True):
            (point,) = axes.plot(
                [rank], [share], color=colour, marker=theme.markers[number], markersize=3, linestyle=""
            )
            hover(point, f"{words(side)} · {rank}: {share:.3%}")
        fitted = [found["start"] * rank ** -found["exponent"] for rank in ranks]
        label = words("fitted", side=words(side), exponent=f"{found['exponent']:.2f}")
        axes.plot(ranks, fitted, color=colour, linestyle=theme.lines[number], linewidth=1.2, label=label)
    logarithmic(axes, "x")
    logarithmic(axes)
    axes.set(title=words("zipf"), xlabel=words("rank"))
    axes.legend(fontsize=8)


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"\mathrm{waste}=1-\frac{\sum_b\sum_{i\in b}\ell_i}{\sum_b |b|\max_{i\in b}\ell_i},"
    r"\qquad f(r)\approx\frac{c}{r^{s}}",
    formula="waste = 1 − Σ ℓ_i / Σ |b| max ℓ_i,   f(r) ≈ c / r^s",
    paper="§5.1",
    sources=("data/sampler.py", "data/store.py", "data/batch.py"),
    picture="dataset_statistics",
)
