"""What a data set looks like from inside: lengths, how much of a batch is padding, how often each token comes."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.data.sampler import Sampler
from glassformer.data.store import Store
from glassformer.data.topics import topics
from glassformer.lessons.data.dataset_picture import draw
from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.short import Experiment
from glassformer.training.validate import make_sampler

SENTENCES = 8000
LEAST_COUNT = 10  # a rank is trusted if its token came so often
POINTS = 60  # of the curve by rank
ORDERS = {"random": 1, "pools": 10, "sorted": 0}  # `train.pool`: what is sorted by length before it is cut


def run(desk: Desk) -> Data:
    """The training part of ko-en, smaller: tokens of both sides."""
    changes = {"data.source.count": desk.some(SENTENCES, 2000), "data.validation": 40, "text.vocab_size": 1000}
    experiment = Experiment("ko-en", changes)
    store = experiment.material.training
    assert isinstance(store, Store)
    batches = {}
    for name, pool in desk.each("padding", ORDERS.items()):
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
    """waste = 1 − real tokens / places, over all batches of an epoch and both sides."""
    batches = sampler.batches(0)
    real = sum(int(sampler.lengths[batch].sum()) for batch in batches)
    places = sum(int(sampler.lengths[batch].max(axis=0).sum()) * len(batch) for batch in batches)
    return {"waste": 1 - real / places, "batches": len(batches)}


def _natural() -> NDArray[np.int32]:
    """The words of a text that people wrote, as numbers: the help texts that come with Python."""
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
