"""The models that lessons train: recipes of the package, trained once and kept in the cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from glassformer.config.recipe import RunConfig
from glassformer.files import disk
from glassformer.lessons.fingerprint import TRAINING, fingerprint
from glassformer.lessons.lesson import Lesson
from glassformer.loading import open_recipe, trained_folders
from glassformer.places import own_folder
from glassformer.runs import Run
from glassformer.training import events
from glassformer.training.begin import begin_or_again
from glassformer.training.watch import train_watched

SETTINGS = {"train.threads": 1, "train.device": "cpu"}  # the same bits on any number of cores
Watch = Callable[[str, float], None]  # (current activity, share done)


def cache() -> Path:
    """GLASSFORMER_CACHE, else the user's cache folder."""
    return own_folder("GLASSFORMER_CACHE", "XDG_CACHE_HOME", ".cache")


def trained(recipe: str, watch: Watch) -> Path:
    """The run folder of a recipe, trained now if necessary; an interrupted training is resumed.

    A second process that wants the same model waits for the first.
    """
    _, folder = _place(recipe)
    with _alone(folder):
        if not _finished(folder):
            job, resumed = begin_or_again(recipe, folder, True, SETTINGS)
            for event in train_watched(job, resume=resumed):
                if isinstance(event, events.StepDone):
                    watch(recipe, event.step / job.recipe.train.steps)
    return folder


def to_train(lesson: Lesson) -> tuple[str, ...]:
    """What must be trained for a lesson: its own runs, and the models that do not come with the package."""
    return (*lesson.runs, *(name for name in lesson.models if name not in trained_folders()))


def is_trained(recipe: str) -> bool:
    """Whether `trained` has nothing left to do."""
    return _finished(_place(recipe)[1])


def _place(recipe: str) -> tuple[RunConfig, Path]:
    """The recipe and its folder; a changed recipe, or changed training code, gets a new folder."""
    config = open_recipe(recipe, SETTINGS)
    digest = hashlib.sha256(f"{config.to_toml()}{''.join(map(fingerprint, TRAINING))}".encode()).hexdigest()[:10]
    return config, cache() / "models" / f"{recipe}-{digest}"


def _finished(folder: Path) -> bool:
    if not (folder / "config.toml").is_file():
        return False
    run = Run.open(folder)
    return run.status.get("state") in ("finished", "early")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Holds the kernel's lock beside the folder; a killed process leaves none behind."""
    with disk(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
