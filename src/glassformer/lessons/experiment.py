"""Short trainings for experiments: the package's own tasks, batches, step and schedules, without a run folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from glassformer.config.recipe import RunConfig, override
from glassformer.config.values import BIASES
from glassformer.data.examples import Examples
from glassformer.loading import open_recipe
from glassformer.models.build import build
from glassformer.tasks import Material, kind_of
from glassformer.training.parallel import Spread
from glassformer.training.state import TrainingState
from glassformer.training.validate import validate

CPU = torch.device("cpu")
# Recipes take the form of a published family, so that their models can be exported. Experiments change one part at a
# time, so they start from the paper's own boxes.
PAPER: dict[str, Any] = {
    "model.norm_order": "pre",
    "model.embedding_norm": False,
    "model.embedding_scale": True,
    "model.segments": 0,
    "model.activation": "relu",
}
BOXES: dict[str, dict[str, Any]] = {
    "ko-en": {"model.position": "sinusoidal"},
    "sentiment": PAPER | {"model.position": "sinusoidal", "model.head": {"kind": "classifier", "pool": "cls"}},
    "fill": PAPER | {"model.position": "sinusoidal"},
    "characters": PAPER
    | {"model.norm": "layer", "model.feed_forward": "mlp", "model.d_ff": 512, "model.bias": list(BIASES)},
}


@dataclass(frozen=True)
class Outcome:
    """A model after a short training, with the course of the training. A loss that was not finite is NaN."""

    model: nn.Module
    config: RunConfig
    losses: list[float] = field(repr=False)  # loss of each step's batch, before the step
    gradient_norms: list[float] = field(repr=False)  # before clipping
    validation: dict[str, float] = field(default_factory=dict)  # the task's metrics, "loss" among them

    @property
    def diverged(self) -> bool:
        """Whether the loss or gradient of any step was not finite."""
        return any(loss != loss for loss in self.losses)


class Experiment:
    """One recipe with the paper's boxes: its material is read once and trained for each variant and seed.

    `changes` are keys of the recipe: {"model.norm_order": "post", "train.steps": 200}. Keys of [data] and [text]
    change the material, so they go to the constructor.
    """

    def __init__(self, recipe: str, changes: Mapping[str, Any] | None = None) -> None:
        config = open_recipe(
            recipe, {"train.threads": 1, "train.device": "cpu", **BOXES.get(recipe, {}), **(changes or {})}
        )
        self.material: Material = kind_of(config).task.begin(config)

    def config(self, changes: Mapping[str, Any], seed: int) -> RunConfig:
        """The recipe with these keys changed."""
        tables = self.material.config.to_dict()
        for key, value in {**changes, "train.seed": seed}.items():
            tables = override(tables, key, value)
        return RunConfig.from_dict(tables)

    def train(
        self,
        seed: int,
        changes: Mapping[str, Any] | None = None,
        *,
        make: Callable[[RunConfig], nn.Module] | None = None,
        training: Examples | None = None,
        validated: bool = True,
    ) -> Outcome:
        """A new model from this seed, trained for `train.steps` and validated at the end.

        `make` builds the model instead of the configuration, for example with a custom box.
        """
        config = self.config(changes or {}, seed)
        model = make(config) if make is not None else build(config.model, seed=seed)
        task, store = self.material.task, self.material.training if training is None else training
        state = TrainingState.begin(config, model, task, store, CPU)
        losses, norms = [], []
        for _ in range(config.train.steps):
            state.advance()
            reading = state.stepper.meter.read()
            losses.append(reading.loss)
            norms.append(reading.gradient_norm)
            state.stepper.meter.begin_line()
        model.eval()
        found = self.validate(model, config) if validated else {}
        return Outcome(model, config, losses, norms, found)

    def validate(
        self, model: nn.Module, config: RunConfig | None = None, store: Examples | None = None
    ) -> dict[str, float]:
        """The task's metrics on the validation examples, or on others."""
        examples = store if store is not None else self.material.validation
        assert examples is not None
        train = (config or self.material.config).train
        return validate(Spread.on_one(model, self.material.task), self.material.task, examples, train, CPU)
