from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.errors import ConfigError
from glassformer.runs import Run
from glassformer.tasks import TASKS
from glassformer.tasks.material import learn_vocabularies
from glassformer.tasks.translation.task import Translation
from glassformer.text import Vocabularies
from glassformer.training.begin import begin
from glassformer.training.loop import train
from tiny_tasks import tiny


def test_the_vocabulary_goes_into_the_folder(tmp_path: Path) -> None:
    material = Translation.begin(tiny("translation"))
    run = Run.create(tmp_path / "run", material.config, fill=material.fill)
    assert Vocabularies.open(run.folder).source.vocab_size == material.config.model.vocab_size


@pytest.mark.many
@pytest.mark.parametrize("task", ["translation", "classification", "masked_language_model", "language_model"])
def test_all_that_there_are_is_a_size_of_characters_and_words(tmp_path: Path, task: str) -> None:
    """`vocab_size = 0`: every task takes it, where the tokenizer can; no other reads its data first."""
    for tokenizer in ("characters", "words"):
        config = tiny(task, text={"tokenizer": tokenizer, "vocab_size": 0})
        job = begin(replace(config, train=replace(config.train, steps=1, accumulate=1)), tmp_path / tokenizer)
        for _ in train(job):
            pass
        size = Vocabularies.open(tmp_path / tokenizer).source.vocab_size
        assert Run.open(tmp_path / tokenizer).config.model.vocab_size == size > 20
    with pytest.raises(ConfigError, match="vocab_size is missing, and the tokenizer 'bpe' needs it"):
        TASKS[task].task.sketch(tiny(task, text={"tokenizer": "bpe", "vocab_size": 0}))


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
