"""Handwritten digits with little to learn from: the short trainings of label_smoothing and focal_loss.

A small ViT of the recipe `digits`, without its augmentation, which would hide how sure a model becomes of what it saw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from glassformer.data.examples import Arrays
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.setup import LessonSetup
from glassformer.tasks.image_classification.task import ImageClassification

STEPS = 200
HELD_OUT = 700  # images that no training sees


def digits(setup: LessonSetup, loss: Mapping[str, Any]) -> Experiment:
    """The material with a loss; the same images for every loss."""
    return Experiment(
        "digits",
        {
            "data.source.test": 1,
            "data.validation": HELD_OUT,
            "task.crop": 0,
            "task.erase": 0.0,
            "task.mixup": 0,
            "model.d_model": 32,
            "model.d_ff": 128,
            "train.steps": setup.some(STEPS, 4),
            "train.warmup": setup.some(20),
            "train.ema": 0.0,
            "train.loss": loss,
        },
    )


@dataclass(frozen=True)
class DigitAnswers:
    """What a model says of images, and what they are."""

    probabilities: NDArray[np.float64]  # n × classes
    labels: NDArray[np.int64]  # n

    @property
    def confidence(self) -> float:
        return float(self.probabilities.max(axis=1).mean())

    @property
    def accuracy(self) -> float:
        return self.right(np.ones(len(self.labels), dtype=bool))

    def right(self, of: NDArray[np.bool_]) -> float:
        """The share of these that is said rightly: of one class it is the recall."""
        return float((self.probabilities.argmax(axis=1) == self.labels)[of].mean())


def training_images(experiment: Experiment) -> Arrays:
    images = experiment.material.training
    assert isinstance(images, Arrays)
    return images


@torch.no_grad()
def answers(experiment: Experiment, model: nn.Module) -> DigitAnswers:
    """On the images held out."""
    task, images = experiment.material.task, experiment.material.validation
    assert isinstance(task, ImageClassification) and images is not None
    batch = task.collate([images[i] for i in range(len(images))])
    return DigitAnswers(task.logits(model, batch).double().softmax(-1).numpy(), batch.targets.numpy())
