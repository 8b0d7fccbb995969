from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

import foreign_texts
import glassformer as gf
from foreign_folder import changed
from glassformer.errors import FileError
from glassformer.hub.open import open_foreign
from glassformer.hub.store import store
from glassformer.runs import Run, verify
from glassformer.runs.weights import WEIGHTS_FILE, read_tensors
from reference import reference
from small_disk import no_file_larger_than


def test_a_run_folder_that_load_opens(tmp_path: Path) -> None:
    _, folder = reference("gpt2")
    found = store(folder, tmp_path / "run")
    assert (found.family, found.task, found.dtypes, found.tokenizer) == ("gpt2", "language_model", ("float32",), "none")
    loaded, direct = gf.load(tmp_path / "run"), open_foreign(folder)
    assert loaded.config == direct.config
    ours, theirs = loaded.model.state_dict(), direct.model.state_dict()
    assert found.parameters == sum(x.numel() for x in ours.values())
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    verify(Run.open(tmp_path / "run").checkpoint(0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_keep_their_type_or_get_another(tmp_path: Path, dtype: torch.dtype) -> None:
    source = changed("llama", tmp_path / "hf", lambda tensors: {key: x.to(dtype) for key, x in tensors.items()})
    kept, wide = store(source, tmp_path / "kept"), store(source, tmp_path / "wide", dtype=torch.float32)
    assert kept.dtypes == (str(dtype).removeprefix("torch."),) and wide.dtypes == ("float32",)
    a, b = (read_tensors(each.run.checkpoint(0) / "model.safetensors") for each in (kept, wide))
    assert all(a[name].dtype == dtype and torch.equal(a[name].float(), b[name]) for name in a)
    assert next(gf.load(tmp_path / "kept").model.parameters()).dtype == torch.float32


def test_the_tokenizer_comes_along(tmp_path: Path) -> None:
    source = changed("gpt2", tmp_path / "hf")
    config = (source / "config.json").read_text()
    foreign_texts.gpt2(source)
    (source / "config.json").write_text(config)
    assert store(source, tmp_path / "run").tokenizer == "bpe"
    text = "나는 학교에 간다 a b"
    loaded = gf.load(tmp_path / "run")
    assert loaded.framed(text) == gf.load(source).framed(text) != []


def test_what_only_they_have_is_kept(tmp_path: Path) -> None:
    _, folder = reference("bert pretraining")
    found = store(folder, tmp_path / "run")
    kept = tmp_path / "run" / "foreign"
    assert json.loads((kept / "config.json").read_text()) == json.loads((folder / "config.json").read_text())
    assert sorted(read_tensors(kept / "aside.safetensors")) == sorted(found.aside)


def test_progress_counts_bytes(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    store(reference("gpt2")[1], tmp_path / "run", progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen) and seen[-1][0] == seen[-1][1]


def test_a_folder_in_use_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("mine")
    with pytest.raises(FileError, match=r"is not empty and was not made by this command \(import\)"):
        store(reference("gpt2")[1], tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["mine.txt"]
    store(reference("gpt2")[1], tmp_path / "run", force=True)
    assert (tmp_path / "run" / "mine.txt").read_text() == "mine" and Run.open(tmp_path / "run").last is not None


def test_an_import_renews_its_own_folder_and_no_run_that_was_trained(tmp_path: Path) -> None:
    source = reference("gpt2")[1]
    store(source, tmp_path / "run")
    store(source, tmp_path / "run", dtype=torch.bfloat16)
    weights = read_tensors(Run.open(tmp_path / "run").checkpoint(0) / WEIGHTS_FILE)
    assert {x.dtype for x in weights.values()} == {torch.bfloat16}
    (tmp_path / "run" / "log.jsonl").write_text("{}\n")
    for force in (False, True):
        with pytest.raises(FileError, match="holds a run that was trained; no command replaces one"):
            store(source, tmp_path / "run", force=force)


def test_an_import_is_not_written_onto_what_it_reads(tmp_path: Path) -> None:
    shutil.copytree(reference("gpt2")[1], tmp_path / "hf")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for place in (tmp_path / "hf", tmp_path):  # itself, and a folder that it lies in
        with pytest.raises(FileError, match="is also read by this command"):
            store(tmp_path / "hf", place, force=True)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    with no_file_larger_than(10_000), pytest.raises(FileError, match=r"run\b.*File too large"):
        store(reference("gpt2")[1], tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_is_said_before_anything_is_written(tmp_path: Path) -> None:
    folder = changed("gpt2", tmp_path / "hf", lambda tensors: {**tensors, "x": torch.zeros(1)})
    with pytest.raises(FileError, match="x belongs to nothing that a gpt2 has"):
        store(folder, tmp_path / "run")
    assert not (tmp_path / "run").exists()
