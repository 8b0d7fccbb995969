"""A small decoder of English letters, which the norm lessons train at several depths."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, log
from typing import Any

import torch

from glassformer.lessons.experiment import Experiment, Outcome
from glassformer.lessons.setup import LessonSetup
from glassformer.models.build import build
from glassformer.trace.record import record
from glassformer.training.validate import make_sampler

RATE = 3e-3


def letters(setup: LessonSetup) -> Experiment:
    """Batches of four rows of 64 letters, d_model 32; no clipping, so that only the norm can stabilise training."""
    return Experiment(
        "characters",
        {
            "task.documents": "stream",
            "data.source.count": setup.some(3000, 300),
            "data.source.test": 0,
            "data.validation": setup.some(120, 20),
            "model.d_model": 32,
            "model.d_ff": 128,
            "model.position": "sinusoidal",
            "train.batch_tokens": 256,
            "train.learning_rate": RATE,
            "train.schedule": "constant",
            "train.warmup": 0,
            "train.clip": 0.0,
        },
    )


def train_letters(
    material: Experiment, seed: int, depth: int, steps: int, changes: Mapping[str, Any] | None = None
) -> Outcome:
    """A decoder of this depth after `steps` steps."""
    return material.train(seed, {"model.n_decoder_layers": depth, "train.steps": steps, **(changes or {})})


def final_loss(outcome: Outcome) -> float:
    """The loss on unseen letters, in nats. A model that has exploded counts as an even guess, however large its loss.

    Losses in the thousands would make the interval over seeds meaningless.
    """
    guess = log(outcome.config.model.vocab_size or 1)
    loss = outcome.validation["loss"]
    return min(loss, guess) if isfinite(loss) else guess


def first_gradients(material: Experiment, seed: int, depth: int, order: str) -> list[float]:
    """The norm of the gradient of each layer's last matrix, W_2, before the first step (Xiong et al. 2020, Fig. 3)."""
    config = material.config({"model.n_decoder_layers": depth, "model.norm_order": order}, seed)
    model = build(config.model, seed=seed)
    task, store = material.material.task, material.material.training
    indexes = make_sampler(store, task, config.train).batches(0)[0]
    batch = task.collate([store[i] for i in indexes])
    loss = task.loss(model, batch)
    (loss.total / loss.count).backward()
    found = {name: parameter.grad for name, parameter in model.named_parameters()}
    return [float(torch.linalg.vector_norm(_known(found[_last(layer)]))) for layer in range(depth)]


def _last(layer: int) -> str:
    return f"decoder.blocks.{layer}.feed_forward.w_2.weight"


def _known(gradient: torch.Tensor | None) -> torch.Tensor:
    assert gradient is not None
    return gradient


@torch.no_grad()
def stream_sizes(material: Experiment, outcome: Outcome) -> list[float]:
    """The root mean square of the stream on real letters: at the input, then after each layer."""
    task, store = material.material.task, material.material.validation
    assert store is not None
    batch = task.collate([store[i] for i in range(min(4, len(store)))])
    depth = outcome.config.model.decoder_layers
    names = ["decoder.input", *(f"decoder.blocks.{layer}.output" for layer in range(depth))]
    with record(outcome.model, names) as trace:
        task.loss(outcome.model, batch)
    return [float(trace[name].square().mean().sqrt()) for name in names]
