from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import foreign_models
import glassformer as gf
from glassformer.config.values import Choice
from glassformer.graphs.describe import describe
from glassformer.graphs.forms import graphs_of
from glassformer.loading import Loaded, load
from tiny_runs import trained

pytestmark = pytest.mark.slow


def table(loaded: Loaded) -> dict[str, object]:
    found = describe(loaded, graphs_of(loaded.model, loaded.config))
    assert json.loads(json.dumps(found)) == found  # a file can hold it
    return found


def test_a_translator_says_how_it_begins_and_ends(tmp_path: Path) -> None:
    loaded = gf.load(trained("translation", tmp_path))
    found, specials = table(loaded), loaded.vocabularies.target.specials
    assert (found["begin"], found["end"], found["start"]) == ([], [specials.eos], [specials.bos])
    assert (found["ends"], found["last"], found["longest"]) == ([specials.eos], None, 64)
    assert {specials.pad, specials.bos} <= {*found["forbidden"]} and specials.eos not in found["forbidden"]  # type: ignore[misc]
    assert found["cache"] == {"past_k_0": [2, 16], "past_v_0": [2, 16]}
    assert found["graphs"]["encoder"]["outputs"] == ["memory_k_0", "memory_v_0"]  # type: ignore[index]


def test_bart_is_forced_to_begin_and_to_end(tmp_path: Path) -> None:
    foreign_models.bart(tmp_path)
    loaded = load(tmp_path)
    task = Choice("translation", {**loaded.config.task.options, "first": "bos"})  # as its makers' files say it
    loaded = replace(loaded, config=replace(loaded.config, task=task))
    found, specials = table(loaded), loaded.vocabularies.target.specials
    assert found["start"] == [specials.eos, specials.bos]
    assert (found["last"], found["longest"]) == (specials.eos, 64)


def test_a_text_to_be_continued_has_no_end(tmp_path: Path) -> None:
    loaded = gf.load(trained("language_model", tmp_path))
    found = table(loaded)
    assert (found["begin"], found["end"]) == (loaded.frame.front, [])
    assert found["ends"] == [loaded.tokenizer.specials.eos]


def test_classes_have_names(tmp_path: Path) -> None:
    loaded = gf.load(trained("classification", tmp_path))
    found = table(loaded)
    assert found["labels"] == loaded.labels and "forbidden" not in found
    assert found["cache"] == {}


def test_a_forecast_has_scales(tmp_path: Path) -> None:
    found = table(gf.load(trained("forecasting", tmp_path)))
    assert found["scales"].keys() == {"waves"}  # type: ignore[attr-defined]
    assert "begin" not in found
