"""Validation while training: the task's scores over a whole set, each divided once."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from glassformer.data.sampler import Sampler
from glassformer.data.store import Store
from glassformer.recipe import TrainConfig
from glassformer.tasks import Task
from glassformer.train.precision import autocast


@torch.no_grad()
def validate(model: nn.Module, task: Task, store: Store, config: TrainConfig, device: torch.device) -> dict[str, float]:
    """Means over all examples; `perplexity` = e^loss beside a loss in nats."""
    was_training = model.training
    model.eval()
    totals: dict[str, Tensor] = {}
    for indexes in make_sampler(store, task, config).in_order():
        batch = task.collate([store[i] for i in indexes]).to(device)
        with autocast(config.precision, device):
            scores = task.scores(model, batch)
        for name, one in scores.items():
            pair = torch.stack((one.total.double(), one.count.double()))
            totals[name] = totals[name] + pair if name in totals else pair
    model.train(was_training)
    means = {name: total / count for name, (total, count) in ((n, pair.tolist()) for n, pair in totals.items())}
    if "loss" in means:
        means["perplexity"] = math.exp(min(means["loss"], 700.0))
    return means


def make_sampler(store: Store, task: Task, config: TrainConfig) -> Sampler:
    """The order of a store under a recipe; what a batch adds to an example, eos for example, counts."""
    return Sampler(
        lengths=store.lengths + task.extra_tokens,
        batch_tokens=config.batch_tokens,
        max_sentences=config.max_sentences,
        pad_to=config.pad_to,
        pool=config.pool,
        accumulate=config.accumulate,
        seed=config.seed,
    )
