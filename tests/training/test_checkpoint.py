from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from glassformer.errors import FileError
from glassformer.runs import Run
from glassformer.runs.manifest import is_whole
from glassformer.runs.weights import load_weights
from glassformer.training.checkpoint import Checkpoint, retire, save_folder, set_aside
from small_disk import no_file_larger_than
from small_run import run_config, small_model


def checkpoint(size: int = 4, *, ema: bool = False) -> Checkpoint:
    tensors = {"w": torch.arange(float(size))}
    return Checkpoint(
        model=tensors,
        optimizer={"step:w": torch.tensor(3.0)},
        random={"torch": torch.get_rng_state()},
        state={"step": 5, "loss": 0.1},
        ema=tensors if ema else None,
    )


def equal(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("ema", [True, False])
def test_what_is_saved_is_read(tmp_path: Path, ema: bool) -> None:
    saved = checkpoint(ema=ema)
    saved.save(tmp_path / "step")
    read = Checkpoint.read(tmp_path / "step")
    for name in ("model", "optimizer", "random"):
        assert equal(dict(getattr(read, name)), dict(getattr(saved, name)))
    assert read.state == saved.state
    assert (read.ema is not None) == ema
    assert [path.name for path in tmp_path.iterdir()] == ["step"]
    manifest = json.loads((tmp_path / "step" / "manifest.json").read_text())
    assert manifest["format"] == 1
    expected = {"model.safetensors", "optimizer.safetensors", "random.safetensors", "state.json"}
    assert set(manifest["files"]) == expected | ({"ema.safetensors"} if ema else set())


def test_nothing_in_it_is_a_pickle(tmp_path: Path) -> None:
    checkpoint().save(tmp_path / "step")
    for path in (tmp_path / "step").iterdir():
        assert path.suffix in (".safetensors", ".json")
        assert not path.read_bytes().startswith((b"PK", b"\x80"))


def test_an_existing_one_is_replaced(tmp_path: Path) -> None:
    checkpoint(4).save(tmp_path / "step")
    checkpoint(6).save(tmp_path / "step")
    assert Checkpoint.read(tmp_path / "step").model["w"].numel() == 6
    assert [path.name for path in tmp_path.iterdir()] == ["step"]


def test_a_save_that_fails_leaves_the_others_and_nothing_of_itself(tmp_path: Path) -> None:
    checkpoint().save(tmp_path / "step-1")
    with no_file_larger_than(8000), pytest.raises(FileError, match=r"cannot be written: .*; make room"):
        checkpoint(5000).save(tmp_path / "step-2")
    assert [path.name for path in tmp_path.iterdir()] == ["step-1"]
    Checkpoint.read(tmp_path / "step-1")


def test_a_draft_of_a_killed_save_does_not_stop_the_next(tmp_path: Path) -> None:
    (tmp_path / ".tmp-step").mkdir()
    (tmp_path / ".tmp-step" / "model.safetensors").write_bytes(b"half")
    checkpoint().save(tmp_path / "step")
    assert [path.name for path in tmp_path.iterdir()] == ["step"]


FULL = """
import sys
from pathlib import Path
from training.test_checkpoint import checkpoint
from glassformer.errors import FileError
from glassformer.training.checkpoint import Checkpoint
folder = Path(sys.argv[1])
checkpoint().save(folder / "step-1")
try:
    checkpoint(400_000).save(folder / "step-2")
except FileError as error:
    print(error)
Checkpoint.read(folder / "step-1")
print(sorted(path.name for path in folder.iterdir()))
"""


@pytest.mark.slow
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    mount = f"mount -t tmpfs -o size=1m none '{tmp_path}' && exec '{sys.executable}' -c '{FULL}' '{tmp_path}'"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, text=True, env=environment)
    if "unshare" in ran.stderr or "mount" in ran.stderr:
        pytest.skip("this machine lets nobody mount a small disk")
    line, names = ran.stdout.splitlines()
    assert (
        line.startswith(f"{tmp_path}/") and "No space left on device" in line and line.endswith("write somewhere else")
    )
    assert names == "['step-1']"


def test_a_checkpoint_without_its_parts_is_refused(tmp_path: Path) -> None:
    save_folder(tmp_path / "step", {"model.safetensors": {"w": torch.zeros(1)}}, {})
    with pytest.raises(FileError, match=r"step lacks state\.json"):
        Checkpoint.read(tmp_path / "step")
    save_folder(tmp_path / "list", {"model.safetensors": {}, "optimizer.safetensors": {}, "random.safetensors": {}}, [])  # type: ignore[arg-type]
    with pytest.raises(FileError, match=r"list lacks state\.json"):
        Checkpoint.read(tmp_path / "list")


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    model = small_model(run_config())
    before = {name: value.clone() for name, value in model.state_dict().items()}
    wider = small_model(run_config({"d_ff": 40})).state_dict()
    message = r"x belongs to another model: decoder\.blocks\.0\.feed_forward\.w_1\.bias has shape 40 there and 32 here"
    with pytest.raises(FileError, match=message):
        load_weights(model, wider, Path("x"))
    with pytest.raises(FileError, match=r"head\.weight has shape 24×16 there and – here"):
        load_weights(model, small_model(run_config({"tie_embeddings": "inputs"})).state_dict(), Path("x"))
    assert equal(before, model.state_dict())
    load_weights(model, before, Path("x"))


def steps_in(run: Run) -> list[int]:
    return sorted(run.checkpoints_by_step())


def test_the_last_the_due_and_the_best_stay(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config())
    for step in (10, 15, 20, 30, 37, 40, 44):
        checkpoint().save(run.checkpoint(step))
    retire(run, keep=2, every=10, best=15)
    assert steps_in(run) == [15, 30, 40, 44]  # 44: the very last; 37 was neither due nor the last
    retire(run, keep=1, every=10, best=None)
    assert steps_in(run) == [40, 44]
    assert all(is_whole(path) for path in run.checkpoints_folder.iterdir())


def test_a_refused_checkpoint_is_set_aside(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config())
    for size in (4, 6):
        checkpoint(size).save(run.checkpoint(7))
        set_aside(run.checkpoint(7))
    assert steps_in(run) == []
    assert Checkpoint.read(run.checkpoints_folder / "refused-step-00000007").model["w"].numel() == 6
