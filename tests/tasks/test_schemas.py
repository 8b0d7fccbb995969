from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassformer.config.recipe import KINDS, RunConfig
from glassformer.config.values import Choice
from glassformer.loading import open_recipe, recipes
from glassformer.models.check import BOXES
from glassformer.runs import Run
from glassformer.tasks import TASKS, kind_of
from glassformer.tasks.schemas import schemas
from glassformer.training.begin import again, begin
from tiny_tasks import tiny

# What a person reads in docs/en/training.md, docs/en/boxes.md and the sources; not asked of the code that is tested.
SOME = {
    "ko-en": {"tokenizer.min_frequency = 2", 'task.start = "bos"', "task.source_end =", "position.base = 10000.0"},
    "characters": {'task.offsets = "random"'},
    "digits": {'task.resample = "bilinear"', "source.resize = false"},
    "prices": {"task.drop_last = 0"},
    "object-queries": {"source.largest = 1", "task.giou = 2.0"},
    "own-series": {"source.split = [0.7, 0.1, 0.2]"},
    "own-classification": {"source.validation =", "source.header =", 'source.delimiter = ""', "task.weights ="},
}


def choices(config: RunConfig) -> dict[str, Choice]:
    """Every choice of a recipe, by its key."""
    boxes = {f"model.{key}": getattr(config.model, key) for key in BOXES}
    chosen = {"run.task": config.task, "data.source": config.data.source, "text.tokenizer": config.text.tokenizer}
    return chosen | boxes | {f"train.{key}": getattr(config.train, key) for key in KINDS}


def given(name: str) -> RunConfig:
    """A recipe as a run gets it; those for data of one's own are given a file, which is not read here."""
    config = open_recipe(name)
    if name.startswith("own-"):
        kinds = {"own-images": "folder", "own-series": "csv"}
        named: dict[str, Any] = {"path" if name == "own-series" else "train": "own"}
        config = replace(config, data=replace(config.data, source=Choice(kinds.get(name, "files"), named)))
    return config


@pytest.mark.parametrize("name", recipes())
def test_config_toml_has_every_option_and_reads_back_equal(name: str) -> None:
    config = given(name)
    text = config.to_toml(schemas(config))
    tables = tomllib.loads(text)
    assert RunConfig.from_dict(tables) == config
    comments = set(re.findall(r"^# (.+)$", text, re.MULTILINE))
    for place, known in schemas(config).items():
        table, key = place.split(".")
        written = tables[table][key]
        values = {} if isinstance(written, str) else written
        for option in known:
            as_comment = [line for line in comments if line.startswith(f"{key}.{option} =")]
            assert (option in values) != bool(as_comment), (place, option)
    assert SOME.get(name, set()) <= comments


@pytest.mark.parametrize("name", recipes())
def test_no_option_that_a_recipe_sets_is_unknown(name: str) -> None:
    """What the tables say is what the readers take: else a new option would be missing there."""
    config = given(name)
    known = schemas(config)
    for place, choice in choices(config).items():
        assert place.startswith("train.") or set(choice.options) <= set(known[place]), place


@pytest.mark.many
@pytest.mark.parametrize("name", TASKS)
def test_a_run_writes_them_down(name: str, tmp_path: Path) -> None:
    begin(tiny(name), tmp_path / "run")
    text = (tmp_path / "run" / "config.toml").read_text(encoding="utf-8")
    config = Run.open(tmp_path / "run").config
    missing = [option for option in kind_of(config).task.options if option not in config.task.options]
    assert all(f"# task.{option} =" in text for option in missing) and "# position." in text
    again(tmp_path / "run", {"train.steps": 9})  # config.toml is written anew
    assert (tmp_path / "run" / "config.toml").read_text(encoding="utf-8") == text.replace("steps = 8\n", "steps = 9\n")
