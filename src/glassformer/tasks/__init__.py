"""What a model is trained to do: each task makes batches of examples and a loss of a batch."""

from glassformer.errors import choose
from glassformer.recipe import RunConfig
from glassformer.tasks.classification import Classification
from glassformer.tasks.image_classification import ImageClassification
from glassformer.tasks.task import Kind, Material, Task
from glassformer.tasks.translation import Translation

TASKS: dict[str, Kind] = {
    "translation": Translation,
    "classification": Classification,
    "image_classification": ImageClassification,
}


def kind_of(config: RunConfig) -> Kind:
    """The task that a recipe names."""
    return choose("task", config.task.kind, TASKS)


__all__ = ["TASKS", "Classification", "ImageClassification", "Kind", "Material", "Task", "Translation", "kind_of"]
