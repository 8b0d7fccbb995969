"""What one line of `TASKS` holds: how a task is learned, used, judged and shown.

Training, commands and pages go by this alone. Three folders below know some tasks by name: hub/ (a format of others has
its own classes), text/ (how a translator's source ends) and data/own.py (what the content of a file looks like).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from glassformer.loading import Loaded
from glassformer.metrics.classification import ConfusionTable
from glassformer.runs import Run
from glassformer.tasks.own_files import OwnFiles
from glassformer.tasks.result import Evaluation, EvaluationOptions
from glassformer.tasks.task import Measure, TaskClass


def _no_samples(run: Run, material: Any) -> Measure | None:
    """Evaluations of this task write no samples."""
    return None


def _no_example(run: Run, step: int) -> list[str] | None:
    """This task has no example for its command."""
    return None


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of task. The folder `tasks/NAME/` defines one, and its line in `TASKS` registers it.

    `task` is the class that learns: options, sources, batches, losses and scores.
    `verb` is the everyday command of a model that has learned it, and `example` gives arguments for that command to try
    after a training, taken from the last samples or from the training files.
    `evaluate` judges a model on a split of its data; `searches` says whether it uses beam search, so that an
    evaluation takes search options and can compute BLEU by other conventions.
    `samples` makes the measure that runs at every evaluation besides the scores of the task, and writes down what the
    model says at that step; `samples_judge` says whether that adds metrics to those of the task.
    `confused` gives the confusion matrix for the chapter of a run, from its material; None if there are no classes.
    `own` says how it is learned from a user's own files; None if nobody has such files.
    """

    task: TaskClass
    verb: str
    evaluate: Callable[[Loaded, str, EvaluationOptions], Evaluation[Any]]
    searches: bool = False
    samples: Callable[[Run, Any], Measure | None] = _no_samples
    samples_judge: bool = False
    example: Callable[[Run, int], list[str] | None] = _no_example
    confused: Callable[[Any, nn.Module], ConfusionTable | None] | None = None
    own: OwnFiles | None = None
