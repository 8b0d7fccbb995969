"""What one line of `TASKS` holds: how a task is learned, used, judged and shown. Nobody else asks which task it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from glassformer.loading import Loaded
from glassformer.runs import Run
from glassformer.tasks.classification.confusion import ConfusionTable
from glassformer.tasks.result import Evaluation, EvaluationOptions
from glassformer.tasks.task import Measure, TaskClass


def _no_samples(run: Run, material: Any) -> Measure | None:
    """Its evaluations write nothing down."""
    return None


def _no_example(run: Run, step: int) -> list[str] | None:
    """Nothing that could be typed at once."""
    return None


def _no_classes(run: Run, model: nn.Module) -> ConfusionTable | None:
    """It tells no classes apart."""
    return None


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of task. The folder `tasks/NAME/` defines one, and its line in `TASKS` makes it known.

    `task` is the class that learns: options, sources, batches, losses and scores.
    `verb` is the everyday command of a model that has learned it, and `example` what can be typed behind that command
    after a training: the last samples may supply it, or the files that were trained on.
    `evaluate` judges a model on a split of its data; `searches` says whether it looks for sentences by a beam, so that
    an evaluation may be told options, and BLEU be counted as others do.
    `samples` makes the measure that every evaluation of a training takes besides the scores of the task, and that
    writes down what the model says by then.
    `confused` counts which class is taken for which, for the chapter of a run.
    """

    task: TaskClass
    verb: str
    evaluate: Callable[[Loaded, str, EvaluationOptions], Evaluation[Any]]
    searches: bool = False
    samples: Callable[[Run, Any], Measure | None] = _no_samples
    example: Callable[[Run, int], list[str] | None] = _no_example
    confused: Callable[[Run, nn.Module], ConfusionTable | None] = _no_classes
