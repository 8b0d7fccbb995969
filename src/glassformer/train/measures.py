"""What evaluations measure besides the scores of a task, where that takes more than one pass: a plain dict by task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glassformer.runs import Run
from glassformer.tasks.language_model import Reading, Writings
from glassformer.tasks.translation import Sentences
from glassformer.train.continuations import Continuations, beginnings
from glassformer.train.loop import Measure
from glassformer.train.samples import Samples, chosen


def of_translation(run: Run, material: Sentences) -> Measure | None:
    """Every evaluation translates some of the validation sentences."""
    pairs = chosen(material.looked_at, np.ones(len(material.looked_at), dtype=bool))
    return Samples(run, material.vocabularies, pairs) if len(pairs) else None


def of_language_model(run: Run, material: Writings) -> Measure | None:
    """Every evaluation goes on with the beginnings of some validation texts."""
    some = beginnings(material.looked_at, Reading.of(run.config).context)
    return Continuations(run, material.vocabularies, some) if some else None


MEASURES: dict[str, Callable[[Run, Any], Measure | None]] = {
    "translation": of_translation,
    "language_model": of_language_model,
}
