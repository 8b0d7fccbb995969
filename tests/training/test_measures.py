from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from glassformer.data.documents import Documents
from glassformer.runs import Run
from glassformer.tasks import TASKS, Classification
from glassformer.tasks.classification.samples import ClassificationSamples
from glassformer.tasks.language_model.samples import Continuations
from glassformer.tasks.language_model.task import LanguageModel
from glassformer.tasks.translation.samples import TranslationSamples
from glassformer.tasks.translation.task import Translation
from glassformer.training.measures import MEASURES, of_classification, of_language_model, of_translation
from tiny_tasks import tiny


def test_only_tasks_that_there_are_have_measures() -> None:
    assert set(MEASURES) <= set(TASKS)


def test_a_translator_translates_some_of_what_it_is_validated_on(tmp_path: Path) -> None:
    material = Translation.begin(tiny("translation"))
    run = Run.create(tmp_path / "run", material.config, fill=material.fill)
    measure = of_translation(run, material)
    assert isinstance(measure, TranslationSamples) and len(measure.pairs) == 10
    nothing = replace(material, looked_at=material.looked_at.chosen([]))
    assert of_translation(run, nothing) is None


def test_a_classifier_shows_some_of_what_it_is_validated_on(tmp_path: Path) -> None:
    material = Classification.begin(tiny("classification"))
    run = Run.create(tmp_path / "run", material.config, fill=material.fill)
    measure = of_classification(run, material)
    assert isinstance(measure, ClassificationSamples) and len(measure.texts) == len(measure.examples) == 8
    assert of_classification(run, replace(material, validation=None)) is None


def test_a_language_model_goes_on_with_what_it_is_validated_on(tmp_path: Path) -> None:
    material = LanguageModel.begin(tiny("language_model"))
    run = Run.create(tmp_path / "run", material.config, fill=material.fill)
    measure = of_language_model(run, material)
    assert isinstance(measure, Continuations) and len(measure.beginnings) == 4
    assert of_language_model(run, replace(material, looked_at=Documents([]))) is None
