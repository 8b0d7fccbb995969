from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import glassformer as gf
from foreign_models import marian
from glassformer.config.recipe import DataConfig
from glassformer.config.values import Choice
from glassformer.errors import ConfigError, InputError
from glassformer.hub.store import store
from glassformer.loading import load
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.translation.evaluation import TranslationEvaluation
from packaged import package
from small_translator import ENGLISH, KOREAN, trained, write_lines


def test_a_run_is_evaluated_by_its_task(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    found = evaluate(folder, "validation", checkpoint="last")
    assert isinstance(found, TranslationEvaluation)
    assert (found.folder, found.split, found.readings) == (folder, "validation", 1)


def test_nothing_is_written_into_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = package(tmp_path, monkeypatch, {"waves": "forecasting"})
    found = evaluate("waves")
    assert found.readings == 0 and not (place / "waves" / "evaluations.jsonl").exists()
    assert "evaluations.jsonl" not in repr(found)


def test_a_task_that_nobody_can_judge_is_refused(tmp_path: Path) -> None:
    loaded = load(trained(tmp_path))
    other = replace(loaded, config=replace(loaded.config, task=Choice("transcription")))
    with pytest.raises(ConfigError, match="task='transcription' is unknown; use one of: translation"):
        evaluate(other)


@pytest.mark.slow
def test_a_model_from_elsewhere_has_no_data_to_be_scored_on(tmp_path: Path) -> None:
    marian(tmp_path / "hf")
    store(tmp_path / "hf", tmp_path / "run")
    for folder in (tmp_path / "hf", tmp_path / "run"):
        with pytest.raises(InputError, match="is a model from elsewhere and has no data to be scored on; train it"):
            evaluate(folder)


@pytest.mark.slow
def test_an_imported_translator_is_scored_by_the_search_that_its_makers_name(tmp_path: Path) -> None:
    model, _ = marian(tmp_path / "hf")
    model.generation_config.num_beams, model.generation_config.length_penalty = 3, 0.8
    model.generation_config.save_pretrained(tmp_path / "hf")
    both = [write_lines(tmp_path / "a", ENGLISH[:2]), write_lines(tmp_path / "b", KOREAN[:2])]
    data = DataConfig(source=Choice("files", {"train": both, "validation": both}))
    store(tmp_path / "hf", tmp_path / "run")
    loaded = load(tmp_path / "run")
    loaded = replace(loaded, config=replace(loaded.config, data=data))
    for found in (evaluate(loaded), gf.evaluate(loaded)):
        search = found.to_json()["search"]
        assert (search["beam"], search["alpha"], search["length_norm"]) == (3, 0.8, "power")
    search = gf.evaluate(loaded, beam=1, length_norm="none", stop="first").to_json()["search"]
    assert (search["beam"], search["length_norm"], search["stop"]) == (1, "none", "first")
