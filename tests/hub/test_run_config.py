from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import foreign_texts
from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.errors import FileError
from glassformer.hub.families import FAMILIES
from glassformer.hub.foreign import Foreign
from glassformer.hub.run_config import read_run_config
from glassformer.text import Vocabularies

MODEL = ModelConfig(vocab_size=400, d_model=8, n_heads=2)
IMAGE = ModelConfig(family="encoder", input=Choice("image", {"size": 8, "patch": 4}), d_model=8, n_heads=2)


def found(
    folder: Path, family: str, task: str, model: ModelConfig = MODEL, **table: Any
) -> tuple[RunConfig, Vocabularies | None]:
    return read_run_config(folder, Foreign(table, folder / "config.json"), FAMILIES[family], task, model)


def test_a_text_is_framed_as_the_tokenizer_says(tmp_path: Path) -> None:
    config, tokenizers = found(foreign_texts.gpt2(tmp_path / "a"), "gpt2", "language_model")
    assert tokenizers is not None and config.name == "a"
    assert (config.text.tokenizer.kind, config.text.begin, config.text.end) == ("bpe", "none", "none")
    assert config.text.vocab_size == tokenizers.source.vocab_size
    roberta, _ = found(foreign_texts.roberta(tmp_path / "b"), "roberta", "masked_language_model")
    assert (roberta.text.begin, roberta.text.end) == ("bos", "eos")


def test_where_the_files_are_silent_the_family_says(tmp_path: Path) -> None:
    vocabulary = "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"])
    (tmp_path / "vocab.txt").write_text(vocabulary)
    config, _ = found(tmp_path, "bert", "features")
    assert (config.text.begin, config.text.end) == ("cls", "sep")


def test_without_a_tokenizer_it_reads_no_text(tmp_path: Path) -> None:
    config, tokenizers = found(tmp_path, "bert", "features")
    assert tokenizers is None and config.text.tokenizer.kind == "none" and config.text.begin == "none"


def test_a_damaged_tokenizer_is_not_a_missing_one(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(FileError, match=r"tokenizer\.json"):
        found(tmp_path, "bert", "features")


def test_labels_of_a_classifier(tmp_path: Path) -> None:
    config, _ = found(tmp_path, "bert", "classification", id2label={"0": "no", "1": "yes"})
    assert config.task == Choice("classification", {"labels": ["no", "yes"]})


def test_what_a_decoder_begins_with(tmp_path: Path) -> None:
    ids = {"pad_token_id": 5, "bos_token_id": 0, "eos_token_id": 2}
    config, _ = found(tmp_path, "bart", "translation", decoder_start_token_id=2, forced_bos_token_id=0, **ids)
    assert config.task.options == {"start": "eos", "first": "bos", "forbidden": []}
    (tmp_path / "generation_config.json").write_text(json.dumps({"decoder_start_token_id": 5}))
    config, _ = found(tmp_path, "bart", "translation", decoder_start_token_id=2, **ids)
    assert config.task.options == {"start": "pad", "forbidden": []}  # generation's own file comes first
    config, _ = found(tmp_path, "bart", "translation", forced_bos_token_id=250004, **ids)
    assert "first" not in config.task.options  # nobody reads text here: ids are given as they are


def test_with_a_tokenizer_its_own_ids_name_the_role(tmp_path: Path) -> None:
    folder = foreign_texts.marian(tmp_path)
    tokenizers = Vocabularies.open(folder)
    pad = tokenizers.target.specials.need("pad")
    given = {"decoder_start_token_id": pad, "pad_token_id": 99}
    bad = [[pad], [pad, 7], [12]]  # of words of several tokens, and of words, none is a role
    config, found_tokenizers = found(folder, "marian", "translation", bad_words_ids=bad, **given)
    assert config.task.options == {"start": "pad", "forbidden": ["pad"]} and config.text.tokenizer.kind == "marian"
    assert found_tokenizers is not None and found_tokenizers.source is not found_tokenizers.target
    with pytest.raises(FileError, match="forced_bos_token_id is 25; only pad, bos, eos, cls, sep can be built here"):
        found(folder, "marian", "translation", forced_bos_token_id=25, **given)


def test_pixels_as_the_preprocessor_says(tmp_path: Path) -> None:
    config, _ = found(tmp_path, "vit", "image_classification", IMAGE)
    assert config.task.options == {"labels": ["LABEL_0", "LABEL_1"]}
    told: dict[str, object] = {"resample": 3, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.2, 0.2, 0.2]}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(told))
    config, _ = found(tmp_path, "vit", "image_classification", IMAGE)
    assert (config.task.options["mean"], config.task.options["std"]) == ([0.5, 0.5, 0.5], [0.2, 0.2, 0.2])
    assert config.task.options["resample"] == "bicubic"
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({**told, "do_normalize": False}))
    assert "mean" not in found(tmp_path, "vit", "image_classification", IMAGE)[0].task.options


def test_a_text_may_end_in_several_ways(tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, 382]}))
    config, _ = found(tmp_path, "llama", "language_model", eos_token_id=2)
    assert config.task.options["ends"] == [2, 382]


def test_classes_that_do_not_exclude_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="problem_type is 'multi_label_classification'; only"):
        found(tmp_path, "bert", "classification", problem_type="multi_label_classification")


def test_the_middle_of_a_larger_image(tmp_path: Path) -> None:
    told: dict[str, object] = {"do_center_crop": True, "size": {"height": 48, "width": 48}}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(told))
    assert found(tmp_path, "deit", "image_classification", IMAGE)[0].task.options["enlarge"] == 48


@pytest.mark.parametrize("told", [{"resample": 7}, {"rescale_factor": 0.5}, {"do_resize": False}])
def test_what_cannot_be_done_to_an_image_is_refused(tmp_path: Path, told: dict[str, object]) -> None:
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(told))
    with pytest.raises(FileError, match=f"{next(iter(told))} is"):
        found(tmp_path, "vit", "image_classification", IMAGE)
