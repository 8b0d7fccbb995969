"""What a model is trained to do: each task makes batches of examples and a loss of a batch."""

from glassformer.errors import choose
from glassformer.recipe import RunConfig
from glassformer.tasks.task import Task
from glassformer.tasks.translation import Translation

TASKS = {
    "translation": Translation,
}


def make_task(config: RunConfig, *, pad: int, bos: int, eos: int) -> Task:
    """The task of a recipe, with its loss and the special tokens of its tokenizer."""
    return choose("task", config.task.kind, TASKS).make(config, pad=pad, bos=bos, eos=eos)


__all__ = ["TASKS", "Task", "Translation", "make_task"]
