"""What a recipe may set for a task: its own options, and the losses that make sense for it."""

from __future__ import annotations

from collections.abc import Collection

from glassformer.config.options import Schema, check_choice
from glassformer.config.recipe import RunConfig
from glassformer.errors import ConfigError


def refuse_limit(config: RunConfig, instead: str) -> None:
    """Raises for `data.limit` in a task whose source has a size of its own, the key `instead`."""
    if config.data.limit:
        raise ConfigError("limit_unused", limit=config.data.limit, task=config.task.kind, instead=instead)


def check_options(config: RunConfig, known: Schema, losses: Collection[str]) -> None:
    """Raises for an option that the task does not have, or a loss that does not fit it."""
    check_choice("task", config.task, known)
    loss = config.train.loss.kind
    if loss not in losses:
        raise ConfigError("task_loss", task=config.task.kind, loss=loss, known=", ".join(losses))
