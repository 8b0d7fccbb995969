from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from glassformer.runs import Run
from glassformer.tasks import TASKS
from glassformer.tasks.translation import Translation
from glassformer.train.measures import MEASURES, of_translation
from glassformer.train.samples import Samples
from tiny_tasks import tiny


def test_only_tasks_that_there_are_have_measures() -> None:
    assert set(MEASURES) <= set(TASKS)


def test_a_translator_translates_some_of_what_it_is_validated_on(tmp_path: Path) -> None:
    material = Translation.begin(tiny("translation"))
    run = Run.create(tmp_path / "run", material.config, fill=material.fill)
    measure = of_translation(run, material)
    assert isinstance(measure, Samples) and len(measure.pairs) == 10
    nothing = replace(material, looked_at=material.looked_at.chosen([]))
    assert of_translation(run, nothing) is None
