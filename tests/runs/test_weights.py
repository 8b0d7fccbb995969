from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from glassformer.errors import ConfigError, FileError, GlassformerWarning
from glassformer.runs import Run, choose_weights, read_weights, write_manifest
from glassformer.runs.weights import read_tensors
from tiny_runs import STEPS, trained


def folder(tmp_path: Path, **files: float) -> Path:
    for name, value in files.items():
        save_file({"weight": torch.tensor([value])}, tmp_path / f"{name}.safetensors")
    write_manifest(tmp_path)
    return tmp_path


def test_the_weights_of_a_checkpoint(tmp_path: Path) -> None:
    assert read_weights(folder(tmp_path, model=1.0)) == {"weight": torch.tensor([1.0])}


def test_the_moving_average_is_preferred(tmp_path: Path) -> None:
    assert read_weights(folder(tmp_path, model=1.0, ema=2.0)) == {"weight": torch.tensor([2.0])}


def test_an_altered_file_is_not_read(tmp_path: Path) -> None:
    path = folder(tmp_path, model=1.0) / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileError, match="is not what was written"):
        read_weights(tmp_path)


def test_a_folder_without_weights(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"lacks model\.safetensors"):
        read_weights(folder(tmp_path, optimizer=1.0))


def test_a_file_that_is_no_safetensors_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_tensors(path)
    path.write_bytes(b"\x80\x04pickle")
    with pytest.raises(FileError, match=r"model\.safetensors is not a safetensors file: "):
        read_tensors(path)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(trained("classification", tmp_path))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


def lose(path: Path) -> None:
    path.unlink()


def lose_manifest(path: Path) -> None:
    (path.parent / "manifest.json").unlink()


DAMAGES: dict[Callable[[Path], None], str] = {
    truncate: r"model\.safetensors has \d+ bytes instead of \d+: it was cut off",
    flip: r"model\.safetensors is not what was written",
    lose: r"step-00000008 lacks model\.safetensors",
    lose_manifest: r"step-00000008 has no manifest\.json",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_the_newest_whole_one_is_used_and_said(damage: Callable[[Path], None], run: Run) -> None:
    run.write_best({"step": 8})
    damage(run.checkpoint(8) / "model.safetensors")
    passed = r"a checkpoint was passed over and step-00000006 is used instead: .*" + DAMAGES[damage]
    for which in ("auto", "last"):
        with pytest.warns(GlassformerWarning, match=passed) as said:
            assert choose_weights(run, which) == run.checkpoint(6) / "model.safetensors"
        assert len(said) == 1


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_the_only_one_damaged_names_the_file_and_the_damage(damage: Callable[[Path], None], run: Run) -> None:
    for step in STEPS[:-1]:
        lose(run.checkpoint(step) / "model.safetensors")
    damage(run.checkpoint(8) / "model.safetensors")
    with pytest.raises(FileError, match=rf"holds no whole checkpoint: .*{DAMAGES[damage]}"):
        choose_weights(run)


@pytest.mark.parametrize("damage", [truncate, flip, lose], ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("file", ["optimizer.safetensors", "random.safetensors", "state.json"])
def test_weights_are_judged_apart_from_the_rest(file: str, damage: Callable[[Path], None], run: Run) -> None:
    damage(run.checkpoint(8) / file)
    assert choose_weights(run, "last") == run.checkpoint(8) / "model.safetensors"


def test_one_that_is_asked_for_is_not_replaced(run: Run) -> None:
    run.write_best({"step": 6})
    flip(run.checkpoint(6) / "model.safetensors")
    for which in ("best", "6", "step-00000006"):
        with pytest.raises(FileError, match=r"step-00000006/model\.safetensors is not what was written"):
            choose_weights(run, which)
    assert choose_weights(run, "8") == choose_weights(run, "last")


def test_what_is_not_there(run: Run) -> None:
    with pytest.raises(FileError, match="has no checkpoint 'averaged'; it has these steps: 4, 6, 8"):
        choose_weights(run, "averaged")
    known = "auto, averaged, best, last, 4, 6, 8"
    for which in ("first", "5", "-1", "²"):
        with pytest.raises(ConfigError, match=rf"checkpoint={which!r} is unknown; use one of: {re.escape(known)}$"):
            choose_weights(run, which)


def test_the_mean_comes_first_then_the_best(run: Run) -> None:
    run.write_best({"step": 4})
    run.checkpoint(6).rename(run.averaged_folder)
    assert choose_weights(run).parent == run.averaged_folder
    flip(run.averaged_folder / "model.safetensors")
    with pytest.warns(GlassformerWarning, match=r"step-00000004 is used instead: .*averaged/model\.safetensors"):
        assert choose_weights(run).parent == run.checkpoint(4)


def test_a_best_that_is_gone_is_none(run: Run) -> None:
    (run.folder / "best.json").write_text(json.dumps({"step": 2}))
    assert choose_weights(run).parent == run.checkpoint(8)


def test_a_step_may_be_a_number(run: Run) -> None:
    (step, folder), *_ = run.checkpoints_by_step().items()
    assert choose_weights(run, step).parent == folder
    for other in (10**9, 1.5, [1]):
        with pytest.raises(ConfigError, match="checkpoint="):
            choose_weights(run, other)  # type: ignore[arg-type]


def test_a_damaged_best_json_hinders_only_who_asks_for_the_best(run: Run) -> None:
    (run.folder / "best.json").write_text("{")
    with pytest.warns(GlassformerWarning, match=r"so the newest is used: .*best\.json is not JSON") as said:
        assert choose_weights(run) == run.checkpoint(8) / "model.safetensors"
    assert len(said) == 1
    for which in ("last", 8):
        assert choose_weights(run, which) == run.checkpoint(8) / "model.safetensors"
    with pytest.raises(FileError, match=r"best\.json is not JSON"):
        choose_weights(run, "best")
