"""Compiling: the stacks of blocks and the loss, in place, so that the names of the weights stay the same."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from glassformer.models.stack import Stack
from glassformer.tasks import Task
from glassformer.tasks.token_scores import plain_smoothing


def compile_parts(model: nn.Module, task: Task[Any], *, backend: str = "inductor") -> Task[Any]:
    """Compile the model's stacks in place; return the task with a compiled loss."""
    for module in model.modules():
        if isinstance(module, Stack):
            module.compile(backend=backend)
    if plain_smoothing(task.criterion) is not None and next(model.parameters()).is_cuda:
        return task  # a kernel of our own: see `head_loss`
    return task.with_loss(torch.compile(task.criterion, backend=backend))
