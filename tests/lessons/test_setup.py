from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.lessons import setup as module
from glassformer.lessons.setup import SEEDS, LessonSetup, nobody
from glassformer.lessons.trained_models import Watch
from glassformer.loading import trained_folders
from small_translator import trained


def test_recorded_results_are_made_with_five_seeds_and_full_effort() -> None:
    assert (len(LessonSetup().seeds), LessonSetup().effort) == (SEEDS, 1.0)
    assert SEEDS >= 5


def test_effort_makes_sizes_smaller_but_never_nothing() -> None:
    assert LessonSetup().some(300) == 300
    little = LessonSetup(effort=0.01)
    assert (little.some(300), little.some(10), little.some(300, least=20)) == (3, 1, 20)


def test_whoever_watches_sees_how_far_it_is() -> None:
    seen: list[tuple[str, float]] = []
    found = list(LessonSetup(watch=lambda what, share: seen.append((what, share))).each("layer", "ab"))
    assert found == ["a", "b"]
    assert seen == [("layer", 0.0), ("layer", 0.5), ("layer", 1.0)]
    nobody("layer", 1.0)


def test_a_model_of_ones_own_takes_the_place_of_the_trained_one(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    setup = LessonSetup(models={"ko-en": folder})
    assert setup.folder("ko-en") == folder
    assert setup.run("ko-en").folder == folder
    assert setup.model("ko-en").folder == folder


def test_else_the_package_s_own_is_looked_at_and_not_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "trained", lambda recipe, watch: pytest.fail(f"{recipe} comes with the package"))
    assert LessonSetup().folder("ko-en") == trained_folders()["ko-en"]
    assert LessonSetup().model("ko-en").folder == trained_folders()["ko-en"]


def test_else_the_recipe_is_trained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []

    def train(recipe: str, watch: Watch) -> Path:
        asked.append(recipe)
        return tmp_path

    monkeypatch.setattr(module, "trained", train)
    assert LessonSetup().folder("fill") == tmp_path
    assert asked == ["fill"]
