"""How good a model of images is on a split: judged like a classifier of texts, on images without augmentation."""

from __future__ import annotations

from glassformer.loading import Loaded
from glassformer.tasks.classification.evaluation import ClassificationEvaluation, judge_classes
from glassformer.tasks.image_classification.task import ImageClassification, corpus_of
from glassformer.tasks.result import EvaluationOptions, Groups


def evaluate_image_classification(loaded: Loaded, split: str, options: EvaluationOptions) -> ClassificationEvaluation:
    """Recognise every image of a split and score the answers."""
    groups = Groups.of(loaded, split, corpus_of(loaded.config).split(split))
    task = ImageClassification.make(loaded.config)
    stores = {name: task.encode(some, loaded.config) for name, some in groups.every.items()}
    return judge_classes(loaded, split, task, Groups(stores), options)
