"""What a model is trained to do: each task makes batches of examples and a loss of a batch."""

from glassformer.config.recipe import RunConfig
from glassformer.errors import choose
from glassformer.tasks.classification.task import Classification
from glassformer.tasks.forecasting.task import Forecasting
from glassformer.tasks.image_classification.task import ImageClassification
from glassformer.tasks.language_model.task import LanguageModel
from glassformer.tasks.masked_language_model.task import MaskedLanguageModel
from glassformer.tasks.object_queries.task import ObjectQueries
from glassformer.tasks.task import Kind, Material, Task
from glassformer.tasks.translation.task import Translation

TASKS: dict[str, Kind] = {
    "translation": Translation,
    "classification": Classification,
    "masked_language_model": MaskedLanguageModel,
    "language_model": LanguageModel,
    "image_classification": ImageClassification,
    "forecasting": Forecasting,
    "object_queries": ObjectQueries,
}


def kind_of(config: RunConfig) -> Kind:
    """The task that a recipe names."""
    return choose("task", config.task.kind, TASKS)


__all__ = [
    "TASKS",
    "Classification",
    "Forecasting",
    "ImageClassification",
    "Kind",
    "LanguageModel",
    "MaskedLanguageModel",
    "Material",
    "ObjectQueries",
    "Task",
    "Translation",
    "kind_of",
]
