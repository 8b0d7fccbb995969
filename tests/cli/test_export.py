from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny_runs
from exported_graphs import need_onnx
from glassformer.cli.app import main
from glassformer.hub.store import store
from glassformer.training.begin import begin
from glassformer.training.loop import train
from reference import reference
from small_translator import trained
from tiny_tasks import tiny


def run(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return int(stop.value.code or 0)


def test_a_run_becomes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(reference("gpt2")[1], tmp_path / "run")
    assert run("export", tmp_path / "run", "--to", "hf", "--out", tmp_path / "hf", "--lang", "en") == 0
    said = capsys.readouterr().out
    assert "GPT2LMHeadModel: " in said and f"written: {tmp_path / 'hf'}" in said
    assert sorted(path.name for path in (tmp_path / "hf").glob("*.json")) == ["config.json", "generation_config.json"]
    assert run("export", tmp_path / "run", "--out", tmp_path / "two", "--family", "gpt2", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["family"], told["architecture"], told["tokenizer"]) == ("gpt2", "GPT2LMHeadModel", None)


def test_a_translator_says_how_to_get_the_same_texts_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    form = {"position": {"kind": "sinusoidal", "layout": "halves"}}
    list(train(begin(tiny("translation", model=form, train={"steps": 2}), tmp_path / "run")))
    assert run("export", tmp_path / "run", "--out", tmp_path / "hf", "--lang", "en") == 0
    assert "--length-norm power" in capsys.readouterr().out


def test_what_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = trained(tmp_path)
    assert run("export", folder, "--out", tmp_path / "hf", "--lang", "en") == 1
    assert "comes nearest, but" in capsys.readouterr().err
    assert run("export", folder, "--out", tmp_path / "hf", "--to", "tflite", "--lang", "en") == 2
    assert "--to='tflite' is unknown; use one of: hf, onnx, ctranslate2, run" in capsys.readouterr().err


def test_a_folder_for_ctranslate2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ctranslate2", reason="ctranslate2 is not installed")
    words = ("export", trained(tmp_path), "--to", "ctranslate2", "--out", tmp_path / "out")
    assert run(*words, "--dtype", "int8", "--lang", "en") == 0
    said = capsys.readouterr().out
    assert "TransformerSpec: " in said and "--length-norm power --stop first" in said
    assert (tmp_path / "out" / "model.bin").is_file() and (tmp_path / "out" / "tokenizer").is_dir()


def test_options_of_the_other_format_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("export", tmp_path, "--out", tmp_path / "out", "--lang", "en")
    assert run(*words, "--to", "ctranslate2", "--family", "marian") == 2
    assert "--family says nothing to --to ctranslate2" in capsys.readouterr().err
    assert run(*words, "--dtype", "int8") == 2
    assert "--dtype says nothing to --to hf" in capsys.readouterr().err


def test_a_run_to_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tiny_runs.trained("forecasting", tmp_path)
    assert run("export", folder, "--to", "run", "--out", tmp_path / "small", "--lang", "en") == 0
    said = capsys.readouterr()
    assert "small: " in said.out and f"written: {tmp_path / 'small'}" in said.out and said.err == ""
    words = ("export", folder, "--to", "run", "--dtype", "float32", "--split", "none", "--json")
    assert run(*words, "--out", tmp_path / "exact") == 0
    card = json.loads(capsys.readouterr().out)
    assert (card["dtype"], card["score"], card["folder"]) == ("float32", None, str(tmp_path / "exact"))
    assert run("export", folder, "--out", tmp_path / "hf", "--split", "test", "--lang", "en") == 2
    assert "--split says nothing to --to hf" in capsys.readouterr().err
    assert run("export", folder, "--to", "run", "--out", tmp_path / "b", "--dtype", "int8", "--lang", "en") == 1
    assert "dtype='int8' is unknown; use one of: float16" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_becomes_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need_onnx()
    folder = tiny_runs.trained("forecasting", tmp_path)
    assert run("export", folder, "--to", "onnx", "--out", tmp_path / "onnx", "--lang", "ko") == 0
    said = capsys.readouterr().out
    assert "model.onnx: 파라미터" in said and str(tmp_path / "onnx") in said
    assert run("export", folder, "--to", "onnx", "--out", tmp_path / "onnx", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["graphs"], told["tokenizer"]) == (["model.onnx"], None)
    assert 0 < told["difference"] <= 1e-5 and told["parameters"] > 0


def test_graphs_take_no_options_of_other_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option, value in (("--family", "bert"), ("--dtype", "int8")):
        assert run("export", tmp_path, "--to", "onnx", "--out", tmp_path / "b", option, value, "--lang", "en") == 2
        assert f"{option} says nothing to --to onnx" in capsys.readouterr().err


def test_without_the_extra_the_command_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glassformer.graphs.write.PACKAGES", ("no_such_package",))
    assert run("export", tmp_path, "--to", "onnx", "--out", tmp_path / "onnx", "--lang", "en") == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "pip install 'glassformer[onnx]'" in said


def test_checkpoints_along_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tiny_runs.trained("forecasting", tmp_path)
    words = ("export", folder, "--to", "run", "--split", "none", "--lang", "en", "--out", tmp_path / "small")
    assert run(*words, "--checkpoints", "4, 8") == 0
    assert sorted(path.name for path in (tmp_path / "small" / "checkpoints").iterdir()) == [
        "step-00000004",
        "step-00000008",
    ]
    capsys.readouterr()
    for given in ("4,x", "", "4,,8", "-4", "4.0", "9" * 400, "٤"):
        assert run(*words, f"--checkpoints={given}") == 2
        said = capsys.readouterr().err
        assert "is no list of steps; write numbers with commas" in said and said.count("\n") == 1 and len(said) < 300
    assert run(*words, "--checkpoints", "4,5", "--force") == 1
    assert "has no checkpoint 5; it has these steps: 4, 6, 8" in capsys.readouterr().err
    assert run(*words, "--checkpoints", "4", "--checkpoint", "last") == 2
    assert "--checkpoint names one and --checkpoints several" in capsys.readouterr().err
    assert run("export", folder, "--out", tmp_path / "hf", "--checkpoints", "4", "--lang", "en") == 2
    assert "--checkpoints says nothing to --to hf" in capsys.readouterr().err
