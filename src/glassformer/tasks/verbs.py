"""Which everyday verb fits which task: a model that is asked for another says what it can do instead."""

from __future__ import annotations

from glassformer.errors import InputError
from glassformer.loading import Loaded

VERBS = {
    "translation": "translate",
    "language_model": "generate",
    "masked_language_model": "fill",
    "classification": "classify",
    "image_classification": "recognise",
    "forecasting": "forecast",
    "object_queries": "evaluate",
    "features": "embed",
}


def check_verb(loaded: Loaded, verb: str) -> None:
    """Nothing if the model was made for this; else one line with its task and the verb that fits."""
    fits = VERBS.get(loaded.task, "trace")
    if fits != verb:
        raise InputError("wrong_verb", model=loaded.folder.name, task=loaded.task, verb=verb, fits=fits)
