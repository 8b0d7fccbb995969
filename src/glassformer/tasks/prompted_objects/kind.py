"""Prompts as the rest of the package sees them: their line in `TASKS`."""

from glassformer.tasks.kind import Kind
from glassformer.tasks.prompted_objects.evaluation import evaluate_prompted_objects
from glassformer.tasks.prompted_objects.task import PromptedObjects

PROMPTED_OBJECTS = Kind(
    task=PromptedObjects,
    verb="evaluate",  # it has no everyday use
    evaluate=evaluate_prompted_objects,
)
