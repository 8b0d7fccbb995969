from __future__ import annotations

from pathlib import Path

import pytest

import glassformer as gf
from glassformer.data.catalogue import DATASETS
from glassformer.errors import ConfigError
from glassformer.loading import trained_folders
from glassformer.runs import Run
from glassformer.runs.manifest import sha256, verify
from glassformer.runs.paths import data_files
from glassformer.runs.weights import WEIGHTS_FILE, choose_weights
from glassformer.sharing.card import SAYS
from glassformer.words import LANGUAGES, sentences
from packaged import package
from shared_data import need

MOST, MOST_TOGETHER = 6_000_000, 25_000_000  # bytes
NAMES = list(trained_folders())
WITHOUT_TEST = {"writer-en"}  # tinyshakespeare has none


def test_they_are_a_value_that_shows_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, monkeypatch, {"ko-en": "translation", "prices": "forecasting"})
    found = gf.trained_models()
    assert found.names == list(found) == ["ko-en", "prices"] and len(found) == 2 and "ko-en" in found
    assert found["prices"].task == "forecasting" and [card["name"] for card in found.to_json()] == found.names
    assert "ko-en" in repr(found) and "<table" in found._repr_html_()
    with pytest.raises(ConfigError, match=r"'koen' is no trained model of the package; did you mean ko-en\?"):
        found["koen"]
    assert "`ko-en`" in found.table("en", "`").to_markdown()


def test_a_package_without_models_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, monkeypatch, {})
    assert "No trained model comes with this package." in repr(gf.trained_models())


# --- those that are there ---


@pytest.mark.parametrize("name", NAMES)
def test_the_card_is_that_of_the_files(name: str) -> None:
    card, run = gf.trained_models()[name], Run.open(trained_folders()[name])
    weights = choose_weights(run)
    verify(weights.parent)
    assert (card.name, card.task) == (name, run.config.task.kind)
    assert card.sha256 == sha256(weights) and card.bytes == weights.stat().st_size <= MOST
    assert weights.name == WEIGHTS_FILE and card.dtype == "float16"
    assert card.score is not None and card.score_before is not None and all(card.data.values())
    assert card.command.startswith(f"glassformer train {card.recipe}")
    assert card.split == ("validation" if name in WITHOUT_TEST else "test")


@pytest.mark.parametrize("name", NAMES)
def test_it_holds_only_what_its_use_needs(name: str) -> None:
    folder = trained_folders()[name]
    assert data_files(Run.open(folder).config) == [] and Run.open(folder).config.train.start is None
    kept = {path.name for path in folder.rglob("*")}
    assert not kept & {"status.json", "environment.json", "optimizer.safetensors", "state.json", ".glassformer-export"}
    assert ("log.jsonl" in kept) == (len(Run.open(folder).checkpoints) > 1)  # curves beside checkpoints, not alone
    assert not list(folder.glob("*.png")) and not (folder / "evaluations.jsonl").exists()


def test_together_they_are_small() -> None:
    files = [path for folder in trained_folders().values() for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_TOGETHER


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_words_are_about_models_that_are_there(lang: str) -> None:
    said = {key.split(".")[1] for key in sentences(lang) if key.startswith("trained.")}
    assert said == set(NAMES)
    assert all(f"trained.{name}.{key}" in sentences(lang) for name in NAMES for key in SAYS)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_scores_what_its_card_says_and_nothing_is_written(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    card, folder = gf.trained_models()[name], trained_folders()[name]
    for source in card.data:
        if source in DATASETS:
            need(monkeypatch, source)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    found = gf.evaluate(name, card.split)
    assert found.readings == 0 and "evaluations.jsonl" not in repr(found)
    score = found.total.to_json()[card.metric]
    score = score["value"] if isinstance(score, dict) else score  # of objects a share with its interval
    assert score == pytest.approx(card.score, rel=1e-3)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
