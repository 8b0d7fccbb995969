"""How good a model of images is on a split: what is right, how sure it is of that, and what it takes for what."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from glassformer.data.pictures import Pictures
from glassformer.decoding.step import evaluating
from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.tasks.classification.evaluation import ClassificationEvaluation, ClassificationScores, Guesses
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.evaluation_options import EvaluationOptions
from glassformer.tasks.image_classification.task import ImageClassification, corpus_of

IMAGES = 64  # in a batch


def evaluate_image_classification(loaded: Loaded, split: str, how: EvaluationOptions) -> ClassificationEvaluation:
    """Recognise every image of a split, none of them changed, and score what was said."""
    readings = EvaluationLog(loaded.folder)
    found = {name: some for name, some in corpus_of(loaded.config).split(split).items() if len(some)}
    if not found:
        raise InputError("split_empty", split=split, path=loaded.folder)
    task = ImageClassification.make(loaded.config)
    guesses = _guesses(loaded, task, found, how)
    probabilities = np.concatenate([one.probabilities for one in guesses.values()])
    total = ClassificationScores.of(Guesses(probabilities, np.concatenate([one.true for one in guesses.values()])))
    readings.write(split, loaded.checkpoint.name, total.to_json())
    return ClassificationEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        labels=task.labels,
        unit=task.unit,
        total=total,
        groups={name: ClassificationScores.of(one) for name, one in guesses.items()},
        apart=(),
        readings=readings.count(split),
        hypotheses={name: [task.labels[i] for i in one.said] for name, one in guesses.items()},
    )


@torch.no_grad()
def _guesses(
    loaded: Loaded, task: ImageClassification, groups: Mapping[str, Pictures], how: EvaluationOptions
) -> dict[str, Guesses]:
    """Group by group, in order; probabilities are computed in float64."""
    every, done = sum(map(len, groups.values())), 0
    found: dict[str, Guesses] = {}
    with evaluating(loaded.model):
        for name, some in groups.items():
            store = task.encode(some, loaded.config)
            probabilities = np.zeros((len(store), len(task.labels)))
            for first in range(0, len(store), IMAGES):
                rows = range(first, min(first + IMAGES, len(store)))
                batch = task.collate([store[i] for i in rows]).to(loaded.device)
                probabilities[first : rows.stop] = task.logits(loaded.model, batch).double().softmax(-1).cpu().numpy()
                done += len(rows)
                how.progress(done, every)
            found[name] = Guesses(probabilities, np.asarray(store.fields["label"]))
    return found
