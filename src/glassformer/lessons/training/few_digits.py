"""Short trainings on few handwritten digits, for label_smoothing and focal_loss.

A small ViT from the recipe `digits`, without augmentation, which would hide how sure a model becomes of its data.
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
HELD_OUT = 700  # images never trained on


def digits(setup: LessonSetup, loss: Mapping[str, Any]) -> Experiment:
    """The material with this loss; the images are the same for every loss."""
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
    """A model's probabilities for images, and their labels."""

    probabilities: NDArray[np.float64]  # n × classes
    labels: NDArray[np.int64]  # n

    @property
    def confidence(self) -> float:
        return float(self.probabilities.max(axis=1).mean())

    @property
    def accuracy(self) -> float:
        return self.right(np.ones(len(self.labels), dtype=bool))

    def right(self, of: NDArray[np.bool_]) -> float:
        """The accuracy on these images; for one class it is the recall."""
        return float((self.probabilities.argmax(axis=1) == self.labels)[of].mean())


def training_images(experiment: Experiment) -> Arrays:
    images = experiment.material.training
    assert isinstance(images, Arrays)
    return images


@torch.no_grad()
def held_out_answers(experiment: Experiment, model: nn.Module) -> DigitAnswers:
    """The answers on the held-out images."""
    task, images = experiment.material.task, experiment.material.validation
    assert isinstance(task, ImageClassification) and images is not None
    batch = task.collate([images[i] for i in range(len(images))])
    return DigitAnswers(task.logits(model, batch).double().softmax(-1).numpy(), batch.targets.numpy())
