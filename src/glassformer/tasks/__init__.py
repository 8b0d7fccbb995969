"""What a model is trained to do: a folder for each task, and one line here that registers it."""

from glassformer.config.recipe import RunConfig
from glassformer.errors import choose
from glassformer.tasks.classification.kind import CLASSIFICATION
from glassformer.tasks.forecasting.kind import FORECASTING
from glassformer.tasks.image_classification.kind import IMAGE_CLASSIFICATION
from glassformer.tasks.kind import Kind
from glassformer.tasks.language_model.kind import LANGUAGE_MODEL
from glassformer.tasks.masked_language_model.kind import MASKED_LANGUAGE_MODEL
from glassformer.tasks.object_queries.kind import OBJECT_QUERIES
from glassformer.tasks.prompted_objects.kind import PROMPTED_OBJECTS
from glassformer.tasks.task import Material, Task
from glassformer.tasks.translation.kind import TRANSLATION

TASKS: dict[str, Kind] = {
    "translation": TRANSLATION,
    "classification": CLASSIFICATION,
    "masked_language_model": MASKED_LANGUAGE_MODEL,
    "language_model": LANGUAGE_MODEL,
    "image_classification": IMAGE_CLASSIFICATION,
    "forecasting": FORECASTING,
    "object_queries": OBJECT_QUERIES,
    "prompted_objects": PROMPTED_OBJECTS,
}


def kind_of(config: RunConfig) -> Kind:
    """The task that a recipe names."""
    return choose("task", config.task.kind, TASKS)


__all__ = ["TASKS", "Kind", "Material", "Task", "kind_of"]
