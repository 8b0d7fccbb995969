from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from torch import Tensor

import foreign_texts
import small_recogniser
from foreign_folder import changed
from glassformer.errors import ConfigError, FileError
from glassformer.hub.store import store
from glassformer.loading import load, open_config
from glassformer.loading.loaded import refuse_not_finite
from glassformer.words import LANGUAGES, say
from reference import reference
from small_translator import trained


def test_a_run_is_loaded_with_all_that_it_needs(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    loaded = load(folder)
    assert (loaded.folder, loaded.checkpoint.name, loaded.device.type) == (folder, "step-00000120", "cpu")
    assert not loaded.model.training and loaded.vocabularies.joint
    assert load(str(folder), checkpoint="last").checkpoint == load(folder, checkpoint="best").checkpoint
    assert open_config(folder) == loaded.config.model


@pytest.mark.parametrize("lang", LANGUAGES)
def test_it_shows_itself_in_a_notebook(lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    loaded = load(trained(tmp_path))
    page, parameters = loaded._repr_html_(), sum(x.numel() for x in loaded.model.parameters())
    assert page.startswith("<table>") and f"<td>{parameters:,}</td>" in page
    for key in ("task", "family", "sizes", "parameters", "tokenizer", "device", "folder", "checkpoint"):
        assert f"<td>{say(f'loaded.{key}', lang)}</td>" in page
    for value in (loaded.task, f"{loaded.tokenizer.vocab_size:,}", "cpu, float32", str(loaded.checkpoint)):
        assert value in page and value in repr(loaded)


def test_what_reads_no_text_shows_no_vocabulary(tmp_path: Path) -> None:
    page = load(small_recogniser.trained(tmp_path))._repr_html_()
    assert say("loaded.parameters") in page and say("loaded.tokenizer") not in page


def test_a_run_without_the_checkpoint_asked_for(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    with pytest.raises(FileError, match="has no checkpoint 'averaged'; it has these steps: 120"):
        load(folder, checkpoint="averaged")
    with pytest.raises(ConfigError, match="checkpoint='newest' is unknown; use one of: auto, averaged, best, last"):
        load(folder, checkpoint="newest")
    shutil.rmtree(folder / "checkpoints")
    with pytest.raises(FileError, match="holds no whole checkpoint yet; train it first, or name another run"):
        load(folder)


def test_an_altered_checkpoint_is_not_loaded(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    weights = folder / "checkpoints" / "step-00000120" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(FileError, match="is not what was written"):
        load(folder)


def test_a_folder_of_hugging_face_is_loaded_like_a_run(tmp_path: Path) -> None:
    folder = changed("gpt2", tmp_path / "hf")
    config = (folder / "config.json").read_text()
    foreign_texts.gpt2(folder)
    (folder / "config.json").write_text(config)
    loaded = load(folder, dtype=torch.float64)
    assert (loaded.folder, loaded.checkpoint, loaded.task) == (folder, folder, "language_model")
    assert next(loaded.model.parameters()).dtype == torch.float64 and not loaded.model.training
    assert loaded.framed("a b") == loaded.tokenizer.encode("a b")
    assert load(folder / "config.json").config == load(str(folder)).config == loaded.config


def test_a_model_without_a_tokenizer_says_so_when_it_should_read(tmp_path: Path) -> None:
    loaded = load(reference("gpt2")[1])
    with pytest.raises(FileError, match=r"gpt2 has no tokenizer files, so it cannot read text; put tokenizer\.json"):
        loaded.framed("text")


def test_a_run_in_another_type(tmp_path: Path) -> None:
    assert next(load(trained(tmp_path), dtype=torch.bfloat16).model.parameters()).dtype == torch.bfloat16


def test_the_type_of_the_file_is_kept(tmp_path: Path) -> None:
    """Of a folder and of a run; a file with norms in float32 beside its matrices is a file in bfloat16."""

    def narrow(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: x.bfloat16() if x.dim() > 1 else x for name, x in tensors.items()}

    folder = changed("gpt2", tmp_path / "hf", narrow)
    store(folder, tmp_path / "run")
    for path in (folder, tmp_path / "run"):
        loaded = load(path, dtype="keep")
        assert {x.dtype for x in loaded.model.parameters()} == {torch.bfloat16} and "cpu, bfloat16" in repr(loaded)
    assert load(trained(tmp_path), dtype="keep").dtype == torch.float32


def test_int8_says_so_and_counts_every_parameter(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    wide, small = repr(load(folder)).splitlines(), repr(load(folder, dtype=torch.int8)).splitlines()
    (row,) = [at for at, line in enumerate(wide) if line != small[at]]
    assert "cpu, float32" in wide[row] and "cpu, int8" in small[row]


def test_weights_that_are_not_finite_stay_so_in_int8(tmp_path: Path) -> None:
    def spoil(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        name = next(name for name, x in tensors.items() if x.dim() > 1)
        return tensors | {name: tensors[name].index_fill(0, torch.tensor([3]), float("nan"))}

    folder = changed("gpt2", tmp_path / "hf", spoil)
    with pytest.raises(FileError, match="numbers are NaN or infinite"):
        load(folder, dtype=torch.int8)
    loaded = load(folder, dtype=torch.int8, finite=False)
    with pytest.raises(FileError, match="numbers are NaN or infinite"):
        refuse_not_finite(loaded.model, folder)
