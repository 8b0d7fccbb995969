"""Validation while training: the task's scores over a whole set, each divided once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import torch

from glassformer.config.recipe import TrainConfig
from glassformer.data.examples import Examples
from glassformer.data.sampler import Sampler
from glassformer.losses import Sum
from glassformer.ranks import ALONE, Ranks
from glassformer.tasks.task import Task, added, on_host
from glassformer.training.parallel import Spread
from glassformer.training.precision import autocast


@torch.no_grad()
def validate(
    spread: Spread, task: Task[Any], store: Examples, config: TrainConfig, device: torch.device
) -> dict[str, float]:
    """The task's metrics over all examples, of which every rank takes its share; deterministic."""
    model, ranks = spread.model, spread.ranks
    was_training = model.training
    model.eval()
    sums: dict[str, Sum] = {}
    batches = make_sampler(store, task, config).in_order()
    for at in range(0, len(batches), ranks.world):
        mine = batches[min(at + ranks.rank, len(batches) - 1)]  # FSDP needs all: at the end some only join in
        batch = task.collate([store[i] for i in mine]).to(device)
        with autocast(config.precision, device):
            scores = spread.scores(batch, task)
        if at + ranks.rank < len(batches):
            sums = added(sums, scores)
    model.train(was_training)
    return task.metrics(_together(sums, ranks))


def _together(sums: Mapping[str, Sum], ranks: Ranks) -> dict[str, Sum]:
    """The sums of all ranks, added in their order, so that every rank finds the same numbers."""
    return reduce(added, filter(None, ranks.gather(on_host(sums)))) if ranks.joined else dict(sums)


def make_sampler(store: Examples, task: Task[Any], config: TrainConfig, ranks: Ranks = ALONE) -> Sampler:
    """The batches of a store under a recipe; tokens that a batch adds, such as eos, count towards the lengths."""
    return Sampler(
        lengths=store.lengths + task.extra_tokens,
        batch_tokens=config.batch_tokens,
        max_sentences=config.max_sentences,
        pad_to=config.pad_to,
        pool=config.pool,
        accumulate=ranks.share_of(config.micro_batches),
        seed=config.seed,
        rank=ranks.rank,
        world=ranks.world,
    )
