"""Variants of a recipe side by side: every combination of values with every seed, each a run of its own.

Finished runs are skipped and half-done ones continued, so the same sweep can be started again at any time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from glassformer.config.recipe import RunConfig
from glassformer.config.values import size
from glassformer.errors import ConfigError, FileError, InputError
from glassformer.models.check import check
from glassformer.ranks import ALONE, Ranks
from glassformer.runs import Run
from glassformer.tasks import kind_of
from glassformer.tasks.own import open_recipe_or_data
from glassformer.training.begin import again, begin
from glassformer.training.events import COMPLETE, Event, Stopped
from glassformer.training.watch import NotShown, train_watched

UNSAFE = re.compile(r"[^\w.=,+-]")
LONGEST_NAME = 100
MOST_SEEDS = 1000


@dataclass(frozen=True)
class Variant:
    """One combination of values: {"model.norm_order": "pre"}."""

    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """As in the table: norm_order=pre, learning_rate=0.001."""
        return ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in self.settings.items()) or "–"

    @property
    def file_name(self) -> str:
        """The name of its folder; if characters had to be replaced, a hash keeps two variants apart."""
        text = ",".join(f"{key}={value}" for key, value in self.settings.items()) or "recipe"
        safe = UNSAFE.sub("_", text)[:LONGEST_NAME]
        return safe if safe == text else f"{safe}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Trial:
    """One variant under one seed, and where it is trained."""

    variant: Variant
    seed: int
    config: RunConfig
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.variant.name}, seed={self.seed}"


@dataclass(frozen=True)
class Skipped:
    """A trial that was finished before."""


@dataclass(frozen=True)
class Diverged:
    """A trial whose loss did not stay finite. This is a result too, so the sweep goes on."""

    error: InputError


def plan_trials(
    recipe: str | Path,
    vary: Mapping[str, Sequence[Any]],
    seeds: int,
    out: str | Path,
    overrides: Mapping[str, Any] | None = None,
) -> list[Trial]:
    """All trials, variant after variant. Every configuration is checked before the first is trained."""
    if "train.seed" in vary:
        raise ConfigError("sweep_seed")
    size("seeds", seeds, high=MOST_SEEDS)
    trials = []
    for values in product(*vary.values()):
        variant = Variant(dict(zip(vary, values, strict=True)))
        config = open_recipe_or_data(recipe, {**(overrides or {}), **variant.settings})
        check(kind_of(config).task.sketch(config).model)
        for seed in range(config.train.seed, config.train.seed + seeds):
            seeded = replace(config, train=replace(config.train, seed=seed))
            trials.append(Trial(variant, seed, seeded, Path(out) / variant.file_name / f"seed-{seed}"))
    return trials


def sweep(trials: Sequence[Trial], ranks: Ranks = ALONE) -> Iterator[tuple[Trial, Event | Skipped | Diverged]]:
    """Train one trial after another, yielding every event with its trial. Stops when asked to.

    Of several ranks each trains its share of the trials, every trial on one device.
    """
    for trial in trials:
        if (trial.folder / "config.toml").is_file():
            _same_recipe(trial)
    ranks.wait()  # before one of them begins to write
    for trial in trials[ranks.rank :: ranks.world]:
        begun = (trial.folder / "config.toml").is_file()
        if begun and Run.open(trial.folder).status.get("state") in COMPLETE:
            yield trial, Skipped()
            continue
        job = again(trial.folder) if begun else begin(trial.config, trial.folder)
        reason = ""
        try:
            for event in train_watched(job, resume=begun):
                if isinstance(event, NotShown):
                    continue
                reason = event.reason if isinstance(event, Stopped) else ""
                yield trial, event
        except InputError as error:
            if error.key != "diverged":
                raise
            yield trial, Diverged(error)
        if reason in ("interrupted", "terminated"):
            return


def _same_recipe(trial: Trial) -> None:
    """Raises if the folder holds a run of another recipe, from an older sweep: its row in the table would be wrong.

    Whether to compile and, from `train.epochs`, the number of steps is written into a run when it begins; where the
    sweep leaves these open, any agrees.
    """
    task, config, wanted = kind_of(trial.config).task, Run.open(trial.folder).config, trial.config.train
    if wanted.compile is None:
        config = replace(config, train=replace(config.train, compile=None))
    if wanted.epochs is not None:
        config = replace(config, train=replace(config.train, steps=wanted.steps))
    if config.task.kind != task.name or task.sketch(trial.config).to_dict() != task.sketch(config).to_dict():
        raise FileError("sweep_changed", path=trial.folder)
