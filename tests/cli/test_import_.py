from __future__ import annotations

import json
from pathlib import Path

import pytest

from foreign_folder import changed
from glassformer.cli.app import main
from reference import reference


def run(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return int(stop.value.code or 0)


def test_a_folder_becomes_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("import", reference("bert pretraining")[1], "--out", tmp_path / "run", "--lang", "en") == 0
    said = capsys.readouterr().out
    assert "bert for masked_language_model: " in said and "parameters (float32)" in said
    assert "no tokenizer files were found" in said and "4 tensors of other heads were set aside: bert.pooler" in said
    assert (tmp_path / "run" / "config.toml").is_file()
    assert run("count", tmp_path / "run", "--json") == 0
    counted = json.loads(capsys.readouterr().out)["total"]["parameters"]
    assert run("count", reference("bert pretraining")[1] / "config.json", "--json") == 0
    assert json.loads(capsys.readouterr().out)["total"]["parameters"] == counted


def test_as_json_and_in_another_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("import", reference("gpt2")[1], "--out", tmp_path / "run", "--dtype", "bfloat16", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["family"], told["task"], told["dtypes"]) == ("gpt2", "language_model", ["bfloat16"])
    assert told["tokenizer"] is None and told["aside"] == [] and told["run"] == str(tmp_path / "run")


def test_what_is_wrong_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("import", reference("gpt2")[1], "--out", tmp_path / "run", "--dtype", "int4", "--lang", "en") == 2
    assert "--dtype='int4' is unknown; use one of: keep, float32, float16, bfloat16" in capsys.readouterr().err
    folder = changed("gpt2", tmp_path / "hf", model_type="rwkv")
    assert run("import", folder, "--out", tmp_path / "run", "--lang", "ko") == 1
    complaint = capsys.readouterr().err
    assert "model_type 값이 rwkv입니다" in complaint and complaint.count("\n") == 1
    assert run("import", tmp_path / "nowhere", "--out", tmp_path / "run", "--lang", "en") == 1
    assert "cannot be read: No such file" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_run_of_ours_needs_no_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("import", reference("gpt2")[1], "--out", tmp_path / "run", "--lang", "en") == 0
    assert run("import", tmp_path / "run", "--out", tmp_path / "again", "--lang", "en") == 1
    line = f"{tmp_path / 'run'} is a run already, which every command opens as it is; import takes a folder of Hugging"
    assert capsys.readouterr().err.startswith(line)
    assert not (tmp_path / "again").exists()


def test_a_config_without_a_model_type_is_given_its_family(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = changed("gpt2", tmp_path / "old", without=("model_type",))
    assert run("import", folder, "--out", tmp_path / "run", "--lang", "en") == 1
    assert "has no key 'model_type'" in capsys.readouterr().err
    assert run("import", folder, "--out", tmp_path / "run", "--family", "gpt2") == 0
