"""What evaluations measure besides the scores of a task, where that takes more than one pass: a plain dict by task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glassformer.runs import Run
from glassformer.tasks.classification.samples import ClassificationSamples
from glassformer.tasks.classification.task import LabelledTexts
from glassformer.tasks.forecasting.samples import ForecastSamples
from glassformer.tasks.forecasting.task import SeriesMaterial
from glassformer.tasks.language_model.samples import Continuations, beginnings
from glassformer.tasks.language_model.task import WindowOptions, Writings
from glassformer.tasks.object_queries.task import Canvases
from glassformer.tasks.samples import SHOWN
from glassformer.tasks.translation.samples import TranslationSamples, chosen
from glassformer.tasks.translation.task import Sentences
from glassformer.training.loop import Measure
from glassformer.training.object_samples import ObjectSamples, shown


def of_translation(run: Run, material: Sentences) -> Measure | None:
    """Every evaluation translates some of the validation sentences."""
    pairs = chosen(material.looked_at, np.ones(len(material.looked_at), dtype=bool))
    return TranslationSamples(run, material.vocabularies, pairs) if len(pairs) else None


def of_classification(run: Run, material: LabelledTexts) -> Measure | None:
    """Every evaluation shows what some of the validation texts are taken for."""
    if material.validation is None:
        return None
    some = range(min(SHOWN, len(material.looked_at)))
    return ClassificationSamples(run, material.task, material.looked_at.chosen(some), material.validation.select(some))


def of_language_model(run: Run, material: Writings) -> Measure | None:
    """Every evaluation goes on with the beginnings of some validation texts."""
    some = beginnings(material.looked_at, WindowOptions.of(run.config).context)
    return Continuations(run, material.vocabularies, some) if some else None


def of_object_queries(run: Run, material: Canvases) -> Measure | None:
    """Every evaluation draws what the queries find on a few canvases."""
    return None if material.validation is None else ObjectSamples(run, shown(material.task, material.validation))


def of_forecasting(run: Run, material: SeriesMaterial) -> Measure | None:
    """Every evaluation forecasts some windows of the validation part."""
    return None if material.validation is None else ForecastSamples(run, material, material.validation)


MEASURES: dict[str, Callable[[Run, Any], Measure | None]] = {
    "translation": of_translation,
    "classification": of_classification,
    "language_model": of_language_model,
    "forecasting": of_forecasting,
    "object_queries": of_object_queries,
}
