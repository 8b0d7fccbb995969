"""Folders of sentence-transformers: vectors as its modules describe them, computed here with transformers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import glassformer as gf
from foreign_models import bert_body
from foreign_texts import ENGLISH
from glassformer.cli.app import main
from glassformer.errors import ConfigError, FileError, InputError
from glassformer.hub.export import export_run
from glassformer.hub.store import store

TEXTS = [*ENGLISH[:6], "I go"]
MODES = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
TYPES = "sentence_transformers.models"


def by_hand(x: Tensor, real: Tensor, mode: str) -> Tensor:
    """x: b t d; real: b t."""
    share = real[..., None].to(x)
    match mode:
        case "cls_token":
            return x[:, 0]
        case "max_tokens":
            return x.masked_fill(share == 0, -1e9).amax(1)
        case "mean_tokens":
            return (x * share).sum(1) / share.sum(1)
        case "mean_sqrt_len_tokens":
            return (x * share).sum(1) / share.sum(1).sqrt()
        case "weightedmean_tokens":
            weights = torch.arange(1, x.shape[1] + 1).to(x)[None, :, None] * share
            return (x * weights).sum(1) / weights.sum(1)
        case _:
            return x[torch.arange(len(x)), real.sum(1) - 1]


def folder_of(
    folder: Path, *modes: str, normalize: bool = False, newer: str = "", rest: tuple[str, ...] = (), **files: Any
) -> tuple[Any, Any]:
    model, tokenizer = bert_body(folder)
    names = ["", "1_Pooling", *(["2_Normalize"] if normalize else []), *rest]
    kinds = ["Transformer", *(name.partition("_")[2] for name in names[1:])]
    listed = [
        {"idx": number, "name": str(number), "path": name, "type": f"{TYPES}.{kind}"}
        for number, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    (folder / "modules.json").write_text(json.dumps(listed))
    (folder / "1_Pooling").mkdir()
    told: dict[str, Any] = {"word_embedding_dimension": 16}
    told |= {"pooling_mode": newer} if newer else {f"pooling_mode_{mode}": mode in modes for mode in MODES}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(told | files.pop("pooling", {})))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return model, tokenizer


def stream(model: Any, tokenizer: Any, texts: list[str]) -> tuple[Tensor, Tensor]:
    given = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        return model(**given).last_hidden_state, given.attention_mask


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.many
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("modes", [*((mode,) for mode in MODES), ("cls_token", "mean_tokens")])
def test_vectors_are_pooled_as_the_folder_says(modes: tuple[str, ...], normalize: bool, tmp_path: Path) -> None:
    model, tokenizer = folder_of(tmp_path / "hf", *modes, normalize=normalize)
    x, real = stream(model, tokenizer, TEXTS)
    expected = torch.cat([by_hand(x, real, mode) for mode in modes], 1)
    expected = F.normalize(expected, dim=1) if normalize else expected
    store(tmp_path / "hf", tmp_path / "run")
    for folder in (tmp_path / "hf", tmp_path / "run"):
        close(gf.embed(folder, TEXTS), expected)
        close(gf.embed(folder, TEXTS[0]), expected[0])


def test_a_pool_that_is_named_counts_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, tokenizer = folder_of(tmp_path, "cls_token")
    x, real = stream(model, tokenizer, TEXTS)
    close(gf.embed(tmp_path, TEXTS, pool="max"), by_hand(x, real, "max_tokens"))
    close(gf.embed(tmp_path, TEXTS, pool="mean+last"), torch.cat([by_hand(x, real, m) for m in MODES[2::3]], 1))
    with pytest.raises(SystemExit) as stop:
        main(["embed", str(tmp_path), TEXTS[0], "--pool", "mean", "--json"])
    assert stop.value.code == 0
    close(torch.tensor(json.loads(capsys.readouterr().out)["embeddings"]), by_hand(x, real, "mean_tokens")[:1])
    with pytest.raises(ConfigError, match="pool='middle' is unknown; use one of: mean, cls, max, last"):
        gf.embed(tmp_path, TEXTS, pool="middle")


def test_the_newer_key(tmp_path: Path) -> None:
    model, tokenizer = folder_of(tmp_path, newer="cls")
    close(gf.embed(tmp_path, TEXTS), by_hand(*stream(model, tokenizer, TEXTS), "cls_token"))


def test_what_stands_before_every_text_and_capitals(tmp_path: Path) -> None:
    told = {"prompts": {"query": "go to: "}, "default_prompt_name": "query"}
    lower = {"max_seq_length": 64, "do_lower_case": True}
    model, tokenizer = folder_of(tmp_path, "mean_tokens", config_sentence_transformers=told, sentence_bert_config=lower)
    texts = [f"go to: {text}".lower() for text in TEXTS]
    close(gf.embed(tmp_path, TEXTS), by_hand(*stream(model, tokenizer, texts), "mean_tokens"))


def test_a_text_longer_than_the_folder_allows_is_cut_where_that_is_asked_for(tmp_path: Path) -> None:
    model, tokenizer = folder_of(tmp_path, "mean_tokens", sentence_bert_config={"max_seq_length": 6})
    with pytest.raises(InputError, match=r"the text has \d+ positions, and at most 6 are read; .*--truncate"):
        gf.embed(tmp_path, ENGLISH[0])
    given = tokenizer([ENGLISH[0]], truncation=True, max_length=6, return_tensors="pt")
    with torch.no_grad():
        x = model(**given).last_hidden_state
    close(gf.embed(tmp_path, [ENGLISH[0]], truncate=True), x.mean(1))


def test_they_leave_as_they_came(tmp_path: Path) -> None:
    folder_of(tmp_path / "hf", "cls_token", normalize=True, sentence_bert_config={"max_seq_length": 64})
    store(tmp_path / "hf", tmp_path / "run")
    export_run(tmp_path / "run", tmp_path / "back")
    for name in ("modules.json", "1_Pooling/config.json", "sentence_bert_config.json"):
        assert (tmp_path / "back" / name).read_bytes() == (tmp_path / "hf" / name).read_bytes()
    close(gf.embed(tmp_path / "back", TEXTS), gf.embed(tmp_path / "hf", TEXTS))


def test_a_layer_behind_the_pool_is_refused_unless_a_pool_is_named(tmp_path: Path) -> None:
    folder_of(tmp_path, "mean_tokens", rest=("2_Dense",))
    with pytest.raises(FileError, match=r"2_Dense.*is not computed here.*--pool"):
        gf.embed(tmp_path, TEXTS)
    assert gf.embed(tmp_path, TEXTS, pool="mean").shape == (len(TEXTS), 16)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "1_Pooling" / "config.json").unlink(), "1_Pooling.config.json cannot be read"),
        (lambda folder: (folder / "1_Pooling" / "config.json").write_text("{}"), "names no way to pool"),
        (lambda folder: (folder / "modules.json").write_text("3"), r"modules\.json"),
        (lambda folder: (folder / "modules.json").write_text('[{"path": "../x", "type": "a.Pooling"}]'), "path is"),
    ],
)
def test_files_that_say_nothing_are_named(spoil: Callable[[Path], Any], message: str, tmp_path: Path) -> None:
    folder_of(tmp_path, "mean_tokens")
    spoil(tmp_path)
    with pytest.raises(FileError, match=message):
        gf.load(tmp_path)


def test_a_body_in_a_folder_of_its_own_is_named(tmp_path: Path) -> None:
    (tmp_path / "0_Transformer").mkdir()
    (tmp_path / "modules.json").write_text(json.dumps([{"path": "0_Transformer", "type": f"{TYPES}.Transformer"}]))
    (tmp_path / "0_Transformer" / "config.json").write_text("{}")
    with pytest.raises(FileError, match=r"keeps its model in .*0_Transformer; name that folder"):
        gf.load(tmp_path)
