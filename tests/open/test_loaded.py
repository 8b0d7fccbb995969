from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from glassformer.errors import ConfigError, FileError
from glassformer.open import load, open_config
from small_translator import trained


def test_a_run_is_loaded_with_all_that_it_needs(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    loaded = load(folder)
    assert (loaded.folder, loaded.checkpoint.name, loaded.device.type) == (folder, "step-00000120", "cpu")
    assert not loaded.model.training and loaded.vocabularies.joint
    assert load(str(folder), checkpoint="last").checkpoint == load(folder, checkpoint="best").checkpoint
    assert open_config(folder) == loaded.config.model


def test_a_run_without_the_checkpoint_asked_for(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    with pytest.raises(FileError, match="holds no whole checkpoint yet; train it first, or name another run"):
        load(folder, checkpoint="averaged")
    with pytest.raises(ConfigError, match="checkpoint='newest' is unknown; use one of: auto, averaged, best, last"):
        load(folder, checkpoint="newest")
    shutil.rmtree(folder / "checkpoints")
    with pytest.raises(FileError, match="holds no whole checkpoint yet"):
        load(folder)


def test_an_altered_checkpoint_is_not_loaded(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    weights = folder / "checkpoints" / "step-00000120" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(FileError, match="is not what was written"):
        load(folder)
