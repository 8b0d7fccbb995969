from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from glassformer.config.recipe import RunConfig
from glassformer.lessons import trained_models as module
from glassformer.lessons.trained_models import cache, is_trained, trained
from glassformer.runs import Run
from small_translator import write_recipe

pytestmark = pytest.mark.usefixtures("own_cache")


def test_where_things_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache() == tmp_path / "cache"
    monkeypatch.delenv("GLASSFORMER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache() == Path("/somewhere/glassformer")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache() == Path.home() / ".cache" / "glassformer"


@pytest.mark.slow
def test_a_model_is_trained_once_and_found_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path / "recipe", steps=4)
    monkeypatch.setattr(module, "_place", lambda name: (RunConfig(), cache() / "models" / "small"))
    assert not is_trained(str(recipe))
    seen: list[float] = []
    folder = trained(str(recipe), lambda what, share: seen.append(share))
    assert Run.open(folder).status["state"] == "finished"
    assert is_trained(str(recipe)) and len(seen) == 4
    log = (folder / "log.jsonl").read_bytes()
    assert trained(str(recipe), lambda what, share: pytest.fail("it is there")) == folder
    assert (folder / "log.jsonl").read_bytes() == log


def test_another_recipe_of_the_same_name_has_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    config, first = module._place("digits")
    monkeypatch.setattr(module, "SETTINGS", {**module.SETTINGS, "train.steps": 7})
    changed, second = module._place("digits")
    assert (config.train.threads, config.train.device, changed.train.steps) == (1, "cpu", 7)
    assert first != second and first.parent == second.parent == cache() / "models"


def test_only_one_process_trains_a_model(tmp_path: Path) -> None:
    folder = tmp_path / "models" / "one"
    with module._alone(folder):
        other = os.open(folder.with_suffix(".lock"), os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(other)
    other = os.open(folder.with_suffix(".lock"), os.O_RDWR)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
