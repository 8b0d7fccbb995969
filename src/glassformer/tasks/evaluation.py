"""How good a trained model is on a split of its data: each task has its own measure, one dict knows them all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from rich.console import RenderableType

from glassformer.config.recipe import DataConfig
from glassformer.errors import ConfigError, InputError, choose
from glassformer.loading import Loaded, load
from glassformer.loading.loaded import refuse_not_finite
from glassformer.tasks.classification.evaluation import evaluate_classification
from glassformer.tasks.evaluation_options import EvaluationOptions, Progress
from glassformer.tasks.forecasting.evaluation import evaluate_forecasting
from glassformer.tasks.image_classification.evaluation import evaluate_image_classification
from glassformer.tasks.language_model.evaluation import evaluate_language_model
from glassformer.tasks.masked_language_model.evaluation import evaluate_masked
from glassformer.tasks.object_queries.evaluation import evaluate_object_queries
from glassformer.tasks.translation.evaluation import evaluate_translation
from glassformer.tasks.translation.translate import SearchOptions, search_for


class Evaluation(Protocol):
    """What every evaluation can tell. `readings`: how often this run was scored on this split, this time included."""

    @property
    def folder(self) -> Path: ...

    @property
    def checkpoint(self) -> str: ...

    @property
    def split(self) -> str: ...

    @property
    def readings(self) -> int: ...

    @property
    def total(self) -> Any:
        """The main scores, of the task's own type."""

    @property
    def groups(self) -> Mapping[str, Any]:
        """The same for each group of the split."""

    @property
    def hypotheses(self) -> Mapping[str, list[str]]:
        """What the model said, a line for each example, group by group."""

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""

    def __rich__(self) -> RenderableType:
        """A table, in the language of the process."""


EVALUATIONS: dict[str, Callable[[Loaded, str, EvaluationOptions], Evaluation]] = {
    "translation": evaluate_translation,
    "classification": evaluate_classification,
    "masked_language_model": evaluate_masked,
    "language_model": evaluate_language_model,
    "image_classification": evaluate_image_classification,
    "forecasting": evaluate_forecasting,
    "object_queries": evaluate_object_queries,
}


def evaluate(
    run: str | Path | Loaded,
    split: str = "validation",
    search: SearchOptions | None = None,
    *,
    checkpoint: str | int = "auto",
    forensics: bool = False,
    progress: Progress = lambda done, total: None,
) -> Evaluation:
    """Score a run on a split ("validation", "test", "train") by the metrics of its task.

    `search`: None is as `translate` looks for a translation. What was read is written into evaluations.jsonl.
    """
    loaded = run if isinstance(run, Loaded) else load(run, checkpoint=checkpoint)
    judge = choose("task", loaded.task, EVALUATIONS)
    if forensics and judge is not evaluate_translation:
        raise ConfigError("forensics_task", task=loaded.task)
    _refuse_without_data(loaded)
    refuse_not_finite(loaded.model, loaded.checkpoint)
    how = EvaluationOptions(search=search or search_for(loaded), forensics=forensics, progress=progress)
    found = judge(loaded, split, how)
    loss = found.to_json().get("loss")
    if isinstance(loss, float) and not math.isfinite(loss):
        raise InputError("loss_not_finite", loss=loss, split=split)
    return found


def _refuse_without_data(loaded: Loaded) -> None:
    """A model from elsewhere brings no data, and its configuration names our default: a corpus that it never saw."""
    trained = (loaded.folder / "log.jsonl").exists()
    if loaded.foreign is not None and not trained and loaded.config.data == DataConfig():
        raise InputError("evaluate_without_data", path=loaded.folder)
