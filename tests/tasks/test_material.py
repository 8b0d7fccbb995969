from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassformer.data.prepared import every_prepared
from glassformer.errors import ConfigError
from glassformer.runs import Run
from glassformer.tasks import TASKS, kind_of
from glassformer.tasks.material import learn_vocabularies
from glassformer.tasks.translation.task import Translation
from glassformer.text import Vocabularies
from glassformer.training.begin import begin
from glassformer.training.loop import train
from stored_pairs import as_large, reading, translating, write_corpus
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


READERS: list[dict[str, Any]] = [
    {"kind": "language_model", "context": 16},
    {"kind": "language_model", "context": 16, "documents": "packed"},
    {"kind": "masked_language_model"},
]


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("task", READERS, ids=str)
@pytest.mark.parametrize("data", [{}, {"limit": 60, "prepare": "lowercase"}], ids=str)
def test_large_texts_give_the_same_examples_as_small_ones(
    task: dict[str, Any], data: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = reading(write_corpus(tmp_path, 200)[0], task, **data)
    before = kind_of(config).task.begin(config)
    assert not every_prepared()
    as_large(monkeypatch)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    after = kind_of(config).task.begin(config)
    assert {each.kind for each in every_prepared()} == {"texts", "apart", "vocabulary", "seen", "tokens"}
    assert after.config == before.config
    assert len(after.training) == len(before.training) > 10
    assert after.training.fingerprint == before.training.fingerprint
    assert before.validation is not None and after.validation is not None
    assert after.validation.fingerprint == before.validation.fingerprint
    for i in range(len(before.training)):
        for one, other in zip(before.training[i], after.training[i], strict=True):
            assert one.tolist() == other.tolist()


def test_a_vocabulary_is_learned_from_as_many_lines_as_the_recipe_says(tmp_path: Path) -> None:
    config = translating(write_corpus(tmp_path, 20))
    sources, targets = [f"{letter}" for letter in "abcdefgh"], [f"{letter}" for letter in "ijklmnop"]
    for most, letters in ((0, 16), (16, 16), (5, 5)):
        some = replace(config, text=replace(config.text, sample=most))
        learned = learn_vocabularies(some, sources, targets)
        assert learned.source.vocab_size == learn_vocabularies(some, ["a"]).source.vocab_size + letters - 1
    apart = replace(config, text=replace(config.text, sample=5, joint=False))
    both = learn_vocabularies(apart, sources, targets)
    assert both.source.vocab_size == both.target.vocab_size == learned.source.vocab_size
