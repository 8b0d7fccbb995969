"""Validation while training: the task's scores over a whole set, each divided once."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from glassformer.config.recipe import TrainConfig
from glassformer.data.examples import Examples
from glassformer.data.sampler import Sampler
from glassformer.losses import Sum
from glassformer.tasks.task import Task, added
from glassformer.training.precision import autocast


@torch.no_grad()
def validate(
    model: nn.Module, task: Task[Any], store: Examples, config: TrainConfig, device: torch.device
) -> dict[str, float]:
    """The task's metrics over all examples; deterministic."""
    was_training = model.training
    model.eval()
    sums: dict[str, Sum] = {}
    for indexes in make_sampler(store, task, config).in_order():
        batch = task.collate([store[i] for i in indexes]).to(device)
        with autocast(config.precision, device):
            scores = task.scores(model, batch)
        sums = added(sums, scores)
    model.train(was_training)
    return task.metrics(sums)


def make_sampler(store: Examples, task: Task[Any], config: TrainConfig) -> Sampler:
    """The batches of a store under a recipe; tokens that a batch adds, such as eos, count towards the lengths."""
    return Sampler(
        lengths=store.lengths + task.extra_tokens,
        batch_tokens=config.batch_tokens,
        max_sentences=config.max_sentences,
        pad_to=config.pad_to,
        pool=config.pool,
        accumulate=config.accumulate,
        seed=config.seed,
    )
