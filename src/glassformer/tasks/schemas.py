"""The options of every kind that a recipe chooses, so that config.toml can also list those left at their defaults."""

from __future__ import annotations

from glassformer.config.options import Schema
from glassformer.config.recipe import RunConfig
from glassformer.models.check import box_options
from glassformer.tasks import kind_of
from glassformer.text.kinds import tokenizer_options


def schemas(config: RunConfig) -> dict[str, Schema]:
    """{"run.task": …, "data.source": …, "model.position": …}: of each choice, the options of its kind."""
    task = kind_of(config).task
    return {
        "run.task": task.options,
        "data.source": task.sources.get(config.data.source.kind, {}),
        "text.tokenizer": tokenizer_options(config.text.tokenizer.kind),
        **{f"model.{key}": options for key, options in box_options(config.model).items()},
    }
