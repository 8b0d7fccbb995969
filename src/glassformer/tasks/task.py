"""The interface between training loop and task: the task knows examples, batches and losses, the loop does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from torch import nn

from glassformer.config.options import Schema
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.data.batch import Batch
from glassformer.data.examples import Example, Examples
from glassformer.losses import Loss, Sum
from glassformer.runs import Run

AT_ONCE = 64  # examples that a trained model answers in one batch

B = TypeVar("B", bound=Batch)
Measure = Callable[[nn.Module, int], Mapping[str, float]]  # (model, step) → further metrics, such as BLEU


class Task(Protocol[B]):
    """Everything that the loop needs while it trains."""

    name: ClassVar[str]
    unit: ClassVar[str]  # what `count` counts, a key of [units] in words/: tokens, texts, images …
    recordable: ClassVar[bool]  # whether a step can be recorded and replayed: its loss reads nothing back to the host
    judged: ClassVar[Mapping[str, str]]  # the metrics in order: is "less" or "more" better?
    options: ClassVar[Schema]  # the options that a recipe may set
    shown: ClassVar[Mapping[str, str]]  # metrics in the picture of a run: each a "share", a "percent" or "free"

    @property
    def criterion(self) -> Loss: ...

    @property
    def extra_tokens(self) -> int:
        """How many tokens a batch adds to the longest side of an example: the sampler counts them."""

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> B:
        """Examples → a batch, on the CPU. Training draws its random choices from `random`.

        None: a batch to evaluate, so nothing is augmented; what is random even then (a masked token) is drawn from
        `data.sampler.of_example`, always the same for one example.
        """

    def loss(self, model: nn.Module, batch: B) -> Sum:
        """What training minimises."""

    def scores(self, model: nn.Module, batch: B) -> dict[str, Sum]:
        """What validation sums, without label smoothing; a total is a number or an array (confusion matrix)."""

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        """The sums over a whole set → the metrics. `means` divides once, after all batches."""

    def with_loss(self, loss: Loss) -> Task[B]:
        """The same task with another loss: a compiled one, for example."""

    def of_one_size(self, config: TrainConfig, longest: int | None) -> Task[B]:
        """The same task with batches of one size, if it can make them: an accelerator compiles and records each size.

        `longest`: tokens of the longest text; None where rows that hold several texts cost too much.
        """


class Material(Protocol):
    """Everything that a run needs except its folder. A task's own material may hold more, for its measure."""

    @property
    def config(self) -> RunConfig:
        """The recipe, completed with what depends on the data."""

    @property
    def task(self) -> Task[Any]: ...

    @property
    def training(self) -> Examples: ...

    @property
    def validation(self) -> Examples | None: ...

    def fill(self, run: Run) -> None:
        """Write what must be kept beside config.toml: tokenizer, scaler."""


class TaskClass(Protocol):
    """The class of a task, as `Kind.task` holds it: the way from a recipe, or from a run, to its material."""

    name: str
    unit: str
    judged: Mapping[str, str]
    options: Schema
    sources: Mapping[str, Schema]  # where its examples may come from: kinds of source, with their options
    shown: Mapping[str, str]

    def sketch(self, config: RunConfig) -> RunConfig:
        """The recipe as `begin` completes it, with stand-ins for what depends on the data. Nothing is read.

        A recipe and the config.toml of its run have the same sketch; unknown options are refused here.
        """

    def begin(self, config: RunConfig) -> Material:
        """Read the data; learn vocabularies, labels or scales from the training part alone."""

    def again(self, run: Run) -> Material:
        """The same from a run that was begun before; nothing is learned again."""


def added(sums: Mapping[str, Sum], scores: Mapping[str, Sum]) -> dict[str, Sum]:
    """The sums with the scores of one more batch, in float64 whatever the type of the model."""
    found = {name: Sum(one.total.double(), one.count) for name, one in scores.items()}
    return {
        name: Sum(sums[name].total + one.total, sums[name].count + one.count) if name in sums else one
        for name, one in found.items()
    }


def on_host(scores: Mapping[str, Sum]) -> dict[str, Sum]:
    """The same on the processor, to be told to other ranks."""
    return {name: Sum(one.total.cpu(), one.count.cpu()) for name, one in scores.items()}


def means(sums: Mapping[str, Sum]) -> dict[str, float]:
    """Each total divided by its count."""
    return {name: float(one.total) / float(one.count) for name, one in sums.items()}
