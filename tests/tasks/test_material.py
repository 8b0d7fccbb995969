from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from glassformer.runs import Run
from glassformer.tasks.material import longest
from glassformer.tasks.translation import Translation
from glassformer.text import Vocabularies
from small_run import run_config
from tiny_tasks import tiny


def test_the_vocabulary_goes_into_the_folder(tmp_path: Path) -> None:
    material = Translation.begin(tiny("translation"))
    run = Run.create(tmp_path / "run", material.config, fill=material.fill)
    assert Vocabularies.open(run.folder).source.vocab_size == material.config.model.vocab_size


def test_what_has_room_is_the_smaller_of_recipe_and_table() -> None:
    config = run_config({"max_len": 32})
    assert longest(config, 2) == 30
    assert longest(replace(config, data=replace(config.data, max_length=10)), 2) == 10
