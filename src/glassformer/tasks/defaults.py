"""Every option of every kind that a recipe names, with its default: what config.toml says of those left as they are.

Each is asked where it is declared: a task has a table, a source, a tokenizer and a box of the model a signature.
"""

from __future__ import annotations

from typing import Any

from glassformer.config.recipe import RunConfig
from glassformer.models.check import box_options
from glassformer.tasks import kind_of
from glassformer.text.kinds import tokenizer_options


def defaults(config: RunConfig) -> dict[str, dict[str, Any]]:
    """{"data.source": {"count": 10000, "test": None}, …}; None: there is no default, or the data tells."""
    task = kind_of(config).task
    return {
        "run.task": dict(task.options),
        "data.source": dict(task.sources.get(config.data.source.kind, {})),
        "text.tokenizer": tokenizer_options(config.text.tokenizer.kind),
        **{f"model.{key}": options for key, options in box_options(config.model).items()},
    }
