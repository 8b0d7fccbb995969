from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from glassformer.runs import Run
from glassformer.tasks.material import learn_vocabularies, longest
from glassformer.tasks.translation import Translation
from glassformer.text import Vocabularies
from glassformer.train.begin import begin
from glassformer.train.loop import train
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


def test_a_run_that_starts_from_another_has_its_vocabulary(tmp_path: Path) -> None:
    material = Translation.begin(tiny("translation"))
    first = begin(tiny("translation", train={"steps": 1, "evaluate_every": 0, "accumulate": 1}), tmp_path / "first")
    list(train(first))
    config = tiny("translation", text={"vocab_size": 40}, train={"start": str(tmp_path / "first")})
    found = learn_vocabularies(config, ["nothing", "of", "this"])
    assert found.joint and found.source.vocab_size == material.config.model.vocab_size
    assert Translation.begin(config).config.model.vocab_size == found.source.vocab_size


def test_a_task_with_one_side_has_one_vocabulary() -> None:
    config = tiny("translation", text={"tokenizer": "words", "vocab_size": 10, "joint": False})
    assert learn_vocabularies(config, ["a b c"]).joint
    assert not learn_vocabularies(config, ["a b c"], ["d e f"]).joint
