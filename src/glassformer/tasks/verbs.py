"""Which everyday verb fits which task: a model that is asked for another says what it can do instead."""

from __future__ import annotations

from glassformer.errors import InputError
from glassformer.loading import Loaded

NO_TASK = {"features": "embed"}  # an imported model without a head


def check_verb(loaded: Loaded, verb: str) -> None:
    """Nothing if the model was made for this; else one line with its task and the verb that fits."""
    fits = verb_of(loaded.task)
    if fits != verb:
        raise InputError("wrong_verb", model=loaded.folder.name, task=loaded.task, verb=verb, fits=fits)


def verb_of(task: str) -> str:
    """The everyday verb of a task; whatever else a model is for, it can be traced."""
    from glassformer.tasks import TASKS  # the table holds the modules that ask here

    return TASKS[task].verb if task in TASKS else NO_TASK.get(task, "trace")
