"""The same few steps with two sets of settings: those of the recipes budget-3100-plain and budget-3100, all a tenth."""

from __future__ import annotations

from typing import Any

import numpy as np

from glassformer.data.store import Store
from glassformer.lessons.experiment import Experiment, Outcome
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.loading import open_recipe
from glassformer.metrics.language import NGrams

SCALE = 10  # of 3,100 steps, 4,960 sentences and 800 steps of warm-up: on one core all of it would take too long
SENTENCES, EPOCHS = 32, 20
RECIPES = {"plain": "budget-3100-plain", "own": "budget-3100"}
SMALL = {"d_model": 32, "d_ff": 128, "n_heads": 4, "n_encoder_layers": 1, "n_decoder_layers": 1}
POINTS = 50  # of each curve
FIRST = 0x4E00


def train_both(setup: LessonSetup) -> dict[str, Any]:
    """Validation loss of both after the same steps, over the seeds, beside counting on the same sentences."""
    steps = setup.some(open_recipe(RECIPES["own"]).train.steps // SCALE, 3)
    pairs = max(steps * SENTENCES // EPOCHS, 1)
    experiment = Experiment("ko-en", _sizes())
    store = experiment.material.training
    assert isinstance(store, Store)
    some = store.select(np.arange(min(pairs, len(store))))
    found: dict[str, Any] = {}
    for name, recipe in RECIPES.items():
        changes = {**_settings(recipe), "train.steps": steps}
        runs = [experiment.train(seed, changes, training=some) for seed in setup.each(recipe, setup.seeds)]
        found[name] = _summary(runs)
    validation = experiment.material.validation
    assert isinstance(validation, Store)
    gained = difference(*(found[name]["validation"] for name in ("plain", "own")))
    sizes = {
        "steps": steps,
        "pairs": len(some),
        "scale": SCALE,
        "vocab_size": experiment.config({}, 0).model.vocab_size,
    }
    return {**found, **sizes, **_counted(some, validation), "gained": gained}


def _sizes() -> dict[str, Any]:
    """A small model, batches of 32 sentences; data that is at hand in place of that of the recipes."""
    data = {"data.source.count": 2000, "data.validation": 200, "text.vocab_size": 1000}
    batches = {"train.max_sentences": SENTENCES, "train.batch_tokens": 4096, "train.pool": 1}
    return {**data, **batches, **{f"model.{key}": value for key, value in SMALL.items()}}


def _settings(recipe: str) -> dict[str, Any]:
    """What the two recipes differ in, read from them."""
    config = open_recipe(recipe)
    train = config.train
    return {
        "model.norm_order": config.model.norm_order,
        "model.dropout": config.model.dropout,
        "train.optimizer": {"kind": train.optimizer.kind, **train.optimizer.options},
        "train.learning_rate": train.learning_rate,
        "train.schedule": train.schedule.kind,
        "train.warmup": train.warmup // SCALE,
        "train.clip": train.clip,
        "train.ema": train.ema,
    }


def _summary(runs: list[Outcome]) -> dict[str, Any]:
    curves = np.array([run.losses for run in runs])
    at = np.unique(np.linspace(0, curves.shape[1] - 1, POINTS).round().astype(int))
    return {
        "validation": interval([run.validation["loss"] for run in runs]),
        "training": interval(curves[:, -10:].mean(1).tolist()),
        "curve": {"steps": (at + 1).tolist(), "loss": curves.mean(0)[at].tolist()},
    }


def _counted(training: Store, validation: Store) -> dict[str, float]:
    """What word counts alone give on the target side, in nats per token."""
    learned, unseen = (
        ["".join(chr(FIRST + token) for token in store.fields["target"][i].tolist()) for i in range(len(store))]
        for store in (training, validation)
    )
    nats, tokens = NGrams.fit(learned).nats(unseen), sum(len(text) + 1 for text in unseen)
    return {"unigram": nats[1] / tokens, "bigram": nats[2] / tokens}
