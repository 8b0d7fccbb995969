"""How good a trained model is on a split of its data, by the metrics of its task; every reading is recorded."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from glassformer.config.recipe import DataConfig
from glassformer.decoding.step import evaluating
from glassformer.errors import ConfigError, InputError, choose
from glassformer.loading import Loaded, load
from glassformer.loading.loaded import refuse_not_finite
from glassformer.loading.trained import comes_with_package
from glassformer.ranks import ALONE, Ranks
from glassformer.tasks import TASKS
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.result import Evaluation, EvaluationOptions, ExampleProgress
from glassformer.tasks.search import SearchOptions, search_for


def evaluate(
    run: str | Path | Loaded,
    split: str = "validation",
    search: SearchOptions | None = None,
    *,
    checkpoint: str | int = "auto",
    forensics: bool = False,
    progress: ExampleProgress = lambda done, total: None,
    ranks: Ranks = ALONE,
) -> Evaluation[Any]:
    """Score a run on a split ("validation", "test", "train") by the metrics of its task.

    `search=None`: the search that `translate` uses. Each call is recorded in evaluations.jsonl, except for a trained
    model of the package, in whose folder nothing is written.
    """
    loaded = run if isinstance(run, Loaded) else load(run, checkpoint=checkpoint)
    found = score_split(loaded, split, search, forensics=forensics, progress=progress, ranks=ranks)
    found = replace(found, readings=ranks.from_first(lambda: _recorded(loaded, split, found)))
    loss = found.to_json().get("loss")
    if isinstance(loss, float) and not math.isfinite(loss):
        raise InputError("loss_not_finite", loss=loss, split=split)
    return found


def score_split(
    loaded: Loaded,
    split: str,
    search: SearchOptions | None = None,
    *,
    forensics: bool = False,
    progress: ExampleProgress = lambda done, total: None,
    ranks: Ranks = ALONE,
) -> Evaluation[Any]:
    """The scores of a model on a split of its data; nothing is recorded."""
    kind = choose("task", loaded.task, TASKS)
    if forensics and not kind.searches:
        raise ConfigError("forensics_task", task=loaded.task)
    _refuse_without_data(loaded)
    refuse_not_finite(loaded.model, loaded.checkpoint)
    options = EvaluationOptions(
        search=search or search_for(loaded), forensics=forensics, progress=progress, ranks=ranks
    )
    with evaluating(loaded.model):
        return kind.evaluate(loaded, split, options)


def _recorded(loaded: Loaded, split: str, found: Evaluation[Any]) -> int:
    """Write it down; how often the split has been read. Of a model of the package nothing is."""
    if comes_with_package(loaded.folder):
        return 0
    log = EvaluationLog(loaded.folder)
    readings = log.count(split) + 1
    log.write(split, found.checkpoint, found.kept)
    return readings


def _refuse_without_data(loaded: Loaded) -> None:
    """Raises for an imported model: the data in its configuration is our default corpus, which it never saw."""
    trained = (loaded.folder / "log.jsonl").exists()
    if loaded.foreign is not None and not trained and loaded.config.data == DataConfig():
        raise InputError("evaluate_without_data", path=loaded.folder)
