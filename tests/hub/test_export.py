from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import foreign_texts
import glassformer as gf
from families import answer, difference, tokens
from foreign_folder import changed
from glassformer.cli.options import overrides
from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.errors import ConfigError, FileError
from glassformer.hub.export import Source, choose_family, export, export_run
from glassformer.hub.open import open_foreign
from glassformer.hub.store import store
from glassformer.hub.weights import StoredWeights
from glassformer.loading import open_recipe
from glassformer.runs import Run
from reference import VARIANTS, reference
from small_disk import no_file_larger_than
from small_translator import trained


def opened(folder: Path, kind: str) -> Any:
    """By `transformers`, which must find every tensor that it needs and nothing else."""
    model, told = getattr(transformers, kind).from_pretrained(folder, output_loading_info=True)
    assert not any(told.values()), told
    return model.eval()


@pytest.mark.many
@pytest.mark.parametrize("name", VARIANTS)
def test_there_and_back_is_bit_exact(tmp_path: Path, name: str) -> None:
    model, folder = reference(name)
    store(folder, tmp_path / "run")
    export_run(tmp_path / "run", tmp_path / "hf")
    before, after = StoredWeights.open(folder), StoredWeights.open(tmp_path / "hf")
    assert before.tensors.keys() == after.tensors.keys()
    assert all(torch.equal(before.read(key), after.read(key)) for key in before.tensors)
    again = opened(tmp_path / "hf", type(model).__name__)
    ids, mask = tokens(41, model.config.pad_token_id or 0)
    assert difference(answer(model, ids, mask), answer(again, ids, mask)).absolute == 0.0


@pytest.mark.parametrize("name", ["bert", "roberta classifier", "gpt2", "llama3", "qwen2 windowed", "mistral"])
def test_without_their_config_one_is_written(tmp_path: Path, name: str) -> None:
    model, folder = reference(name)
    found = open_foreign(folder)
    state = found.model.state_dict()
    forms = {key: (x.dtype, tuple(x.shape)) for key, x in state.items()}
    written = export(Source(found.config, forms, state.__getitem__, None), tmp_path / "hf")
    assert (written.family, written.architecture) == (found.family, type(model).__name__)
    again = opened(tmp_path / "hf", written.architecture)
    ids, mask = tokens(41, model.config.pad_token_id or 0)
    assert difference(answer(model, ids, mask), answer(again, ids, mask)).absolute == 0.0


def test_numbers_keep_their_type(tmp_path: Path) -> None:
    source = changed("gpt2", tmp_path / "a", lambda tensors: {key: x.bfloat16() for key, x in tensors.items()})
    store(source, tmp_path / "run")
    export_run(tmp_path / "run", tmp_path / "hf")
    after = StoredWeights.open(tmp_path / "hf")
    assert {after.dtype(key) for key in after.tensors} == {torch.bfloat16}
    assert json.loads((tmp_path / "hf" / "config.json").read_text())["dtype"] == "bfloat16"


def test_labels_go_along(tmp_path: Path) -> None:
    found = open_foreign(reference("bert classifier")[1])
    config = replace(found.config, task=Choice("classification", {"labels": ["bad", "so", "good"]}))
    state = found.model.state_dict()
    forms = {key: (x.dtype, tuple(x.shape)) for key, x in state.items()}
    export(Source(config, forms, state.__getitem__, None), tmp_path / "hf")
    assert opened(tmp_path / "hf", "BertForSequenceClassification").config.id2label == {0: "bad", 1: "so", 2: "good"}
    assert open_foreign(tmp_path / "hf").config.task.options["labels"] == ["bad", "so", "good"]


def test_the_tokenizer_goes_along_where_it_can_be_read(tmp_path: Path) -> None:
    source = changed("gpt2", tmp_path / "a")
    config = (source / "config.json").read_text()
    foreign_texts.gpt2(source)
    (source / "config.json").write_text(config)
    store(source, tmp_path / "run")
    assert export_run(tmp_path / "run", tmp_path / "hf").tokenizer is True
    assert export_run(tmp_path / "run", tmp_path / "hf2", family="gpt2").tokenizer is True
    text = "나는 학교에 간다"
    assert gf.load(tmp_path / "hf").framed(text) == gf.load(source).framed(text)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
    assert theirs(text)["input_ids"] == gf.load(source).framed(text)


def test_a_trained_translator_of_another_form_is_refused_by_its_key(tmp_path: Path) -> None:
    run = trained(tmp_path)
    with pytest.raises(ConfigError) as refused:
        export_run(run, tmp_path / "hf")
    assert str(refused.value) == (
        "pegasus comes nearest, but differs (here → there): position.layout: interleaved → halves; train with "
        "--set 'model.position.layout=halves', or name another family with --family"
    )
    assert not (tmp_path / "hf").exists()


def test_a_difference_is_shown_whole_and_its_remedy_mends_it() -> None:
    """All keys, both sides, nothing cut: the recipe with exactly the keys that the line names can leave."""
    config = open_recipe("nsmc", {"model.vocab_size": 40, "model.head.classes": 2})
    with pytest.raises(ConfigError) as refused:
        choose_family(config, "bert")
    line = str(refused.value)
    assert "…" not in line and "head.pool: mean → cls" in line and "position: sinusoidal → learned" in line
    values = overrides(re.findall(r"--set '([^']*)'", line))
    mended = open_recipe("nsmc", {"model.vocab_size": 40, "model.head.classes": 2, **values})
    assert choose_family(mended, "bert")[0].name == "bert"


@pytest.mark.parametrize("recipe", ["object-queries", "prices"])
def test_what_no_family_has_is_refused_in_one_line(recipe: str) -> None:
    with pytest.raises(ConfigError, match=r"task=\w+: none of the families .* what can leave: classification, image_"):
        choose_family(open_recipe(recipe))


def test_a_model_of_ours_finds_its_family() -> None:
    def family(task: str, **options: Any) -> str:
        model = ModelConfig(vocab_size=40, d_model=16, n_heads=2, **options)
        return choose_family(RunConfig(task=Choice(task), model=model))[0].name

    writer = {"family": "decoder", "norm_order": "pre", "embedding_scale": False, "head": Choice("language_model")}
    gpt = {**writer, "position": Choice("learned"), "activation": "gelu_tanh"}
    assert family("language_model", **gpt) == "gpt2"
    llama = {**writer, "position": Choice("rotary"), "norm": Choice("rms"), "feed_forward": Choice("gated")}
    llama |= {"activation": "silu", "bias": ()}
    assert family("language_model", **llama) == "llama"
    assert family("language_model", **llama, window=5) == "mistral"
    assert family("language_model", **llama | {"bias": ("q", "k", "v")}) == "qwen2"
    assert family("language_model", **llama, qk_norm=True) == "qwen3"
    with pytest.raises(
        ConfigError, match=r"gpt2 comes nearest, but differs \(here → there\): final_norm: false → true"
    ):
        family("language_model", **gpt, final_norm=False)
    with pytest.raises(ConfigError, match=r"task=forecasting: none of the families .*\(tried: bert, "):
        family("forecasting", **gpt)


def test_a_family_by_name() -> None:
    config = open_foreign(reference("llama")[1]).config
    assert choose_family(config)[0].name == "llama" and choose_family(config, "llama")[0].name == "llama"
    with pytest.raises(ConfigError, match=r"qwen2 comes nearest, but differs \(here → there\): bias: "):
        choose_family(config, "qwen2")
    with pytest.raises(ConfigError, match="family='rwkv' is unknown; use one of: bert"):
        choose_family(config, "rwkv")


def test_a_folder_in_use_and_a_full_disk(tmp_path: Path) -> None:
    store(reference("gpt2")[1], tmp_path / "run")
    (tmp_path / "hf").mkdir()
    with no_file_larger_than(10_000), pytest.raises(FileError, match="File too large"):
        export_run(tmp_path / "run", tmp_path / "hf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hf", "run"]
    export_run(tmp_path / "run", tmp_path / "hf")  # an empty folder may be there


def test_an_export_renews_its_own_folder_and_no_other(tmp_path: Path) -> None:
    store(reference("gpt2")[1], tmp_path / "run")
    export_run(tmp_path / "run", tmp_path / "hf")
    (tmp_path / "hf" / "README.md").write_text("mine")
    (tmp_path / "hf" / "config.json").write_text("{}")
    export_run(tmp_path / "run", tmp_path / "hf")
    assert (tmp_path / "hf" / "README.md").read_text() == "mine" and open_foreign(tmp_path / "hf").config
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text("mine")
    with pytest.raises(FileError, match=r"is not empty and was not made by this command \(export\)"):
        export_run(tmp_path / "run", tmp_path / "other")
    assert (tmp_path / "other" / "config.json").read_text() == "mine"
    export_run(tmp_path / "run", tmp_path / "other", force=True)
    assert open_foreign(tmp_path / "other").config


def test_an_export_is_not_written_onto_its_run(tmp_path: Path) -> None:
    store(reference("gpt2")[1], tmp_path / "run")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for place in (tmp_path / "run", tmp_path / "run" / "checkpoints" / "step-00000000", tmp_path):
        with pytest.raises(FileError, match="is also read by this command"):
            export_run(tmp_path / "run", place, force=True)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_a_run_without_a_checkpoint(tmp_path: Path) -> None:
    Run.create(tmp_path / "run", RunConfig())
    with pytest.raises(FileError, match="holds no whole checkpoint yet"):
        export_run(tmp_path / "run", tmp_path / "hf")
