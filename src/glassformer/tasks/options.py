"""What a recipe may say about a task: its own options, and the losses that make sense for it."""

from __future__ import annotations

from collections.abc import Collection

from glassformer.config.recipe import RunConfig
from glassformer.errors import ConfigError, suggest


def check_options(config: RunConfig, known: Collection[str], losses: Collection[str]) -> None:
    """An unknown option is answered with the nearest, an unfit loss with those that fit."""
    task = config.task
    for option in task.options:
        if not known:
            raise ConfigError("no_option", key="task", option=option, kind=task.kind)
        if option not in known:
            raise ConfigError("unknown_option", key="task", option=option, kind=task.kind, hint=suggest(option, known))
    loss = config.train.loss.kind
    if loss not in losses:
        raise ConfigError("task_loss", task=task.kind, loss=loss, known=", ".join(losses))
