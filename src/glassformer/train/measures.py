"""What evaluations measure besides the scores of a task, where that takes more than one pass: a plain dict by task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glassformer.runs import Run
from glassformer.tasks.object_queries import Canvases
from glassformer.tasks.translation import Sentences
from glassformer.train.loop import Measure
from glassformer.train.object_samples import SHOWN, ObjectSamples
from glassformer.train.samples import Samples, chosen


def of_translation(run: Run, material: Sentences) -> Measure | None:
    """Every evaluation translates some of the validation sentences."""
    pairs = chosen(material.looked_at, np.ones(len(material.looked_at), dtype=bool))
    return Samples(run, material.vocabularies, pairs) if len(pairs) else None


def of_object_queries(run: Run, material: Canvases) -> Measure | None:
    """Every evaluation draws what the queries find on a few canvases."""
    looked_at = material.validation
    if looked_at is None:
        return None
    return ObjectSamples(run, material.task.collate([looked_at[i] for i in range(min(SHOWN, len(looked_at)))]))


MEASURES: dict[str, Callable[[Run, Any], Measure | None]] = {
    "translation": of_translation,
    "object_queries": of_object_queries,
}
