"""The seam between training and what is trained: a task knows examples, batches and losses; the loop knows none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from torch import nn

from glassformer.config.options import Schema
from glassformer.config.recipe import RunConfig
from glassformer.data.batch import Batch
from glassformer.data.examples import Example, Examples
from glassformer.losses import Loss, Sum
from glassformer.runs import Run

B = TypeVar("B", bound=Batch)
Measure = Callable[[nn.Module, int], Mapping[str, float]]  # (model, step) → metrics of one's own, BLEU for example


class Task(Protocol[B]):
    """Everything that the loop asks for while it trains."""

    name: ClassVar[str]
    unit: ClassVar[str]  # what `count` counts, a key of [units] in words/: tokens, texts, images …
    judged: ClassVar[Mapping[str, str]]  # what an evaluation reports, in that order: better if "less" or if "more"
    options: ClassVar[Schema]  # what a recipe may say about it
    shown: ClassVar[Mapping[str, str]]  # metrics in the picture of a run: each a "share", a "percent" or "free"

    @property
    def criterion(self) -> Loss: ...

    @property
    def extra_tokens(self) -> int:
        """How many tokens a batch adds to the longest side of an example: the sampler counts them."""

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> B:
        """Examples → a batch, on the CPU. Whatever is left to chance in training is drawn from `random`.

        None: to be judged by, so nothing is augmented; what needs chance even then takes `chance.of_example`.
        """

    def loss(self, model: nn.Module, batch: B) -> Sum:
        """What training makes small."""

    def scores(self, model: nn.Module, batch: B) -> dict[str, Sum]:
        """What validation adds up, nothing smoothed; a total may be a number or, as counts of classes, an array."""

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        """The scores of a whole set → what is reported. `means` divides, once, over all batches."""

    def with_loss(self, loss: Loss) -> Task[B]:
        """The same task with another loss: a compiled one, for example."""


class Material(Protocol):
    """Everything that a run is made of, but for its folder. A task may keep more in its own, for its measure."""

    @property
    def config(self) -> RunConfig:
        """The recipe, with all that only the data could tell."""

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
        """The recipe as `begin` completes it, with a stand-in for whatever only the data can tell. Nothing is read.

        A recipe and the config.toml of its run have the same sketch; options that there are not are refused here.
        """

    def begin(self, config: RunConfig) -> Material:
        """Read the data and learn what may be learned, from the training part alone."""

    def again(self, run: Run) -> Material:
        """The same from a run that was begun: nothing is learned anew."""


def added(sums: Mapping[str, Sum], scores: Mapping[str, Sum]) -> dict[str, Sum]:
    """The scores of one more batch on top of those before, in float64, whatever the model computes in."""
    found = {name: Sum(one.total.double(), one.count) for name, one in scores.items()}
    return {
        name: Sum(sums[name].total + one.total, sums[name].count + one.count) if name in sums else one
        for name, one in found.items()
    }


def means(sums: Mapping[str, Sum]) -> dict[str, float]:
    """Each total by its count."""
    return {name: float(one.total) / float(one.count) for name, one in sums.items()}
