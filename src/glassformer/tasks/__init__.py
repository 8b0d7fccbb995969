"""What a model is trained to do: each task makes batches of examples and a loss of a batch."""

from glassformer.tasks.task import Task
from glassformer.tasks.translation import Translation

TASKS = {
    "translation": Translation,
}

__all__ = ["TASKS", "Task", "Translation"]
