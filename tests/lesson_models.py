"""Hardly trained models for tests of lessons: the right shapes and words, within seconds."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.lessons.catalogue import lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.loading import open_recipe
from glassformer.training.begin import begin
from glassformer.training.loop import train
from once import once

LESS: dict[str, dict[str, Any]] = {
    "ko-en": {"data.source.count": 2000, "data.validation": 40, "text.vocab_size": 1000},
    "sentiment": {"data.source.count": 1000, "data.validation": 40, "text.vocab_size": 800},
    "fill": {"data.source.count": 1000, "data.validation": 40, "text.vocab_size": 800},
    "characters": {"data.source.count": 1000, "data.validation": 100},
    "digits": {},
    "prices": {},
    "objects": {"data.source.count": 500, "data.validation": 40},
    "prompts": {"data.source.count": 500, "data.validation": 40},
}
STEPS = 4
CALLED = {"objects": "object-queries"}  # a model of the package whose recipe has another name


def tiny(recipe: str, seed: int = 0) -> Path:
    """The run folder of a recipe after four steps."""
    every = {"train.evaluate_every": STEPS, "train.save_every": STEPS, "train.log_every": 2}
    changes = {"train.steps": STEPS, "train.seed": seed, "train.average": 1, **every, **LESS[recipe]}
    config = open_recipe(CALLED.get(recipe, recipe), changes)
    return once(f"{recipe}-{seed}", lambda folder: list(train(begin(config, folder))))


def tiny_setup(name: str, *, seed: int = 0, others: Mapping[str, Path] | None = None) -> LessonSetup:
    """A setup for a lesson at hardly any effort, with tiny models for those it asks for."""
    models = {recipe: tiny(recipe, seed) for recipe in (*lesson(name).models, *lesson(name).runs)}
    return LessonSetup(seeds=(0, 1), effort=0.01, models={**models, **(others or {})})


def tiny_result(name: str, seed: int = 0) -> dict[str, Any]:
    """What a lesson measures at a tiny setup, once for all tests of a session."""

    def measured(path: Path) -> None:
        path.write_bytes(pickle.dumps(dict(lesson(name).run(tiny_setup(name, seed=seed)))))

    found: dict[str, Any] = pickle.loads(once(f"result-{name}-{seed}", measured).read_bytes())
    return found
