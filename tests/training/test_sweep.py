from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import small_classifier
import small_recogniser
from glassformer.errors import ConfigError, FileError
from glassformer.runs import Run
from glassformer.training import events
from glassformer.training import sweep as module
from glassformer.training.begin import begin
from glassformer.training.sweep import Diverged, Skipped, Variant, plan_trials, sweep
from glassformer.training.sweep_results import compare_trials
from small_translator import write_recipe
from tiny_tasks import tiny

UNSEEN: dict[str, Any] = {"train.evaluate_every": 0}
VARY: dict[str, list[Any]] = {"model.norm_order": ["pre", "post"], "train.learning_rate": [1e-3, 2e-3]}


def test_every_combination_with_every_seed(tmp_path: Path) -> None:
    trials = plan_trials(write_recipe(tmp_path), VARY, 2, tmp_path / "out", {"train.seed": 5})
    assert [(t.config.model.norm_order, t.config.train.learning_rate, t.seed) for t in trials] == [
        ("pre", 1e-3, 5),
        ("pre", 1e-3, 6),
        ("pre", 2e-3, 5),
        ("pre", 2e-3, 6),
        ("post", 1e-3, 5),
        ("post", 1e-3, 6),
        ("post", 2e-3, 5),
        ("post", 2e-3, 6),
    ]
    assert trials[0].name == "norm_order=pre, learning_rate=0.001, seed=5"
    assert trials[0].folder == tmp_path / "out" / "model.norm_order=pre,train.learning_rate=0.001" / "seed-5"
    assert len({trial.folder for trial in trials}) == 8


def test_nothing_varied_is_the_recipe_itself(tmp_path: Path) -> None:
    (trial,) = plan_trials(write_recipe(tmp_path), {}, 1, tmp_path / "out")
    assert trial.folder == tmp_path / "out" / "recipe" / "seed-0"


def test_names_that_no_folder_can_have_stay_apart() -> None:
    names = {Variant({"model.position": value}).file_name for value in ("a/b", "a:b", {"kind": "x"}, "c" * 300)}
    assert len(names) == 4 and not any("/" in name or len(name) > 120 for name in names)


@pytest.mark.parametrize(
    ("vary", "seeds", "line"),
    [
        ({"train.seed": [1, 2]}, 1, "train.seed cannot be varied: it is what --seeds counts; use --seeds"),
        ({"model.norm_ordr": ["pre"]}, 1, "norm_ordr: no such key; did you mean norm_order?"),
        ({"model.n_heads": [2, 5]}, 1, "n_heads=5 does not divide d_model=32"),
        ({}, 0, "seeds=0 is out of range; use 1 to 1000"),
    ],
)
def test_a_sweep_that_cannot_end_is_not_begun(vary: dict[str, Any], seeds: int, line: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        plan_trials(write_recipe(tmp_path), vary, seeds, tmp_path / "out")
    assert str(caught.value).startswith(line)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_finished_ones_are_skipped_and_half_done_ones_continued(tmp_path: Path) -> None:
    rates = {"train.learning_rate": [1e-3, 2e-3]}
    trials = plan_trials(write_recipe(tmp_path, steps=4), rates, 1, tmp_path / "out", UNSEEN)
    for trial, event in sweep(trials):
        if trial is trials[1] and isinstance(event, events.StepDone) and event.step == 2:
            break  # the process dies here: the second run is begun, and nothing of it saved
    whole = list(sweep(trials))
    assert isinstance(whole[0][1], Skipped) and whole[0][0] is trials[0]
    assert {trial.seed for trial, _ in whole[1:]} == {0} and all(trial is trials[1] for trial, _ in whole[1:])
    assert isinstance(whole[-1][1], events.Stopped)
    assert [type(event) for _, event in sweep(trials)] == [Skipped, Skipped]
    assert Run.open(trials[1].folder).status["state"] == "finished"


@pytest.mark.slow
def test_a_run_that_chose_whether_to_compile_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (trial,) = trials = plan_trials(write_recipe(tmp_path, steps=2), {}, 1, tmp_path / "out", UNSEEN)
    with monkeypatch.context() as accelerator:
        accelerator.setattr("glassformer.training.begin.choose_device", lambda name: torch.device("cuda"))
        begin(trial.config, trial.folder)
    assert trial.config.train.compile is None and Run.open(trial.folder).config.train.compile is False
    assert isinstance(list(sweep(trials))[-1][1], events.Stopped)


def test_a_run_whose_epochs_have_become_steps_is_of_the_same_recipe(tmp_path: Path) -> None:
    (trial,) = plan_trials(write_recipe(tmp_path), {}, 1, tmp_path / "out", UNSEEN | {"train.epochs": 9})
    begin(trial.config, trial.folder)
    assert Run.open(trial.folder).config.train.steps != trial.config.train.steps
    module._same_recipe(trial)


@pytest.mark.slow
def test_another_recipe_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, steps=2)
    for _ in sweep(plan_trials(recipe, {}, 1, tmp_path / "out", UNSEEN)):
        pass
    changed = plan_trials(recipe, {}, 1, tmp_path / "out", UNSEEN | {"train.steps": 3})
    with pytest.raises(FileError, match="was trained under another recipe than this sweep has; choose another folder"):
        list(sweep(changed))


@pytest.mark.slow
def test_a_run_that_diverges_is_a_result(tmp_path: Path) -> None:
    settings = {"train.optimizer": {"kind": "sgd"}, "train.clip": 1e30, "train.skip_limit": 1, **UNSEEN}
    trials = plan_trials(
        write_recipe(tmp_path, steps=6), {"train.learning_rate": [1e30, 1e-3]}, 1, tmp_path / "out", settings
    )
    told = list(sweep(trials))
    lost = [event for trial, event in told if trial is trials[0]]
    assert isinstance(lost[-1], Diverged) and lost[-1].error.key == "diverged"
    assert isinstance(told[-1][1], events.Stopped) and told[-1][0] is trials[1]


def test_asked_to_stop_it_begins_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = plan_trials(write_recipe(tmp_path, steps=2), {}, 2, tmp_path / "out")
    monkeypatch.setattr(module, "train_watched", lambda job, resume: iter([events.Stopped(1, "interrupted")]))
    assert [trial.seed for trial, _ in sweep(trials)] == [0]


@pytest.mark.slow
def test_classifiers_side_by_side(tmp_path: Path) -> None:
    """Labels and classes are only known once the data is read: no reason to take the same recipe for another."""
    recipe, vary = small_classifier.write_recipe(tmp_path, steps=4), {"model.norm_order": ["pre", "post"]}
    first = [event for _, event in sweep(plan_trials(recipe, vary, 1, tmp_path / "out"))]
    assert sum(isinstance(event, events.Stopped) for event in first) == 2
    trials = plan_trials(recipe, vary, 1, tmp_path / "out")
    assert [type(event) for _, event in sweep(trials)] == [Skipped, Skipped]
    row = compare_trials("small", trials).rows[0]
    assert {"loss", "accuracy", "f1"} <= set(row.results[0].metrics)
    other = small_classifier.write_recipe(tmp_path, steps=4, changes={"train": {"loss": "focal"}})
    with pytest.raises(FileError, match="was trained under another recipe than this sweep has"):
        list(sweep(plan_trials(other, vary, 1, tmp_path / "out")))


@pytest.mark.slow
def test_models_of_images_side_by_side(tmp_path: Path) -> None:
    """Names and statistics are only known once the data is read: no reason to take the same recipe for another."""
    recipe, vary = small_recogniser.write_recipe(tmp_path, train__steps=2), {"model.norm_order": ["pre", "post"]}
    first = [event for _, event in sweep(plan_trials(recipe, vary, 1, tmp_path / "out"))]
    assert sum(isinstance(event, events.Stopped) for event in first) == 2
    trials = plan_trials(recipe, vary, 1, tmp_path / "out")
    assert [type(event) for _, event in sweep(trials)] == [Skipped, Skipped]


@pytest.mark.slow
def test_object_queries_side_by_side(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    recipe = tmp_path / "objects.toml"
    recipe.write_text(tiny("object_queries", train={"steps": 4}).to_toml())
    trials = plan_trials(recipe, {"model.queries": [1, 3]}, 1, tmp_path / "out")
    assert sum(isinstance(event, events.Stopped) for _, event in sweep(trials)) == 2
    rows = compare_trials("objects", trials).rows
    assert all({"loss", "found", "box_overlap", "false_alarms"} <= set(row.results[0].metrics) for row in rows)
