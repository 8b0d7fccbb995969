from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import glassformer as gf
from foreign_folder import changed
from glassformer.errors import ConfigError, FileError
from glassformer.hub import open as module
from glassformer.hub import weights as stored_weights
from glassformer.hub.open import foreign_config, inspect_folder, is_foreign, open_foreign
from reference import reference


def test_a_folder_or_its_config_is_a_configuration(tmp_path: Path) -> None:
    folder = reference("llama")[1]
    assert foreign_config(folder) == foreign_config(str(folder / "config.json")) == open_foreign(folder).config.model
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2"}))  # no weights, no class
    assert foreign_config(tmp_path).head.kind == "language_model"


def test_whose_folder_it_is(tmp_path: Path) -> None:
    folder = reference("llama")[1]
    assert is_foreign(folder) and is_foreign(folder / "config.json")
    assert not is_foreign(tmp_path) and not is_foreign(tmp_path / "config.json")
    (tmp_path / "config.json").write_text("{}")
    assert is_foreign(tmp_path)
    (tmp_path / "config.toml").write_text("")
    assert not is_foreign(tmp_path)


def test_the_type_of_the_numbers(tmp_path: Path) -> None:
    folder = changed("gpt2", tmp_path, lambda tensors: {key: x.bfloat16() for key, x in tensors.items()})
    kept, wide = open_foreign(folder, dtype=torch.bfloat16).model, open_foreign(folder).model
    assert {x.dtype for x in kept.parameters()} == {torch.bfloat16}
    assert {x.dtype for x in wide.parameters()} == {torch.float32} and not wide.training
    assert all(torch.equal(a.float(), b) for a, b in zip(kept.parameters(), wide.parameters(), strict=True))


def test_in_several_files_as_in_one(tmp_path: Path) -> None:
    model, folder = reference("qwen2")
    model.save_pretrained(tmp_path, max_shard_size="20KB")
    assert (tmp_path / "model.safetensors.index.json").is_file() and not (tmp_path / "model.safetensors").exists()
    one, several = open_foreign(folder).model.state_dict(), open_foreign(tmp_path).model.state_dict()
    assert all(torch.equal(one[name], several[name]) for name in one)


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("bert", "masked_language_model"),
        ("bert classifier", "classification"),
        ("bert body", "features"),
        ("gpt2", "language_model"),
        ("gpt2 untied", "language_model"),
        ("gpt2 classifier", "classification"),
        ("llama", "language_model"),
        ("llama body", "features"),
    ],
)
def test_without_a_class_the_tensors_tell_the_task(tmp_path: Path, name: str, task: str) -> None:
    assert inspect_folder(reference(name)[1]).task == task
    assert inspect_folder(changed(name, tmp_path, without=("architectures",))).task == task


def test_a_body_may_be_stored_without_its_pooler(tmp_path: Path) -> None:
    folder = changed("bert body", tmp_path, lambda t: {key: x for key, x in t.items() if not key.startswith("pooler")})
    found = open_foreign(folder)
    assert found.config.model.head.kind == "none"
    ids = torch.arange(4, 11)[None]
    model = reference("bert body")[0]
    with torch.no_grad():
        assert torch.allclose(found.model(ids), model(ids).last_hidden_state, atol=1e-5)


def test_what_is_not_known_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"model_type is rwkv; only bert, roberta, .*gpt2, .* can be built here"):
        open_foreign(changed("gpt2", tmp_path / "a", model_type="rwkv"))
    with pytest.raises(FileError, match=r"architectures is GPT2Double; only GPT2LMHeadModel, .* can be built here"):
        open_foreign(changed("gpt2", tmp_path / "b", architectures=["GPT2Double"]))
    with pytest.raises(FileError, match="has no key 'model_type'"):
        open_foreign(changed("gpt2", tmp_path / "c", without=("model_type",)))
    with pytest.raises(FileError, match=r"the weights are quantised \(4\), which is not read here"):
        open_foreign(changed("gpt2", tmp_path / "d", quantization_config={"bits": 4}))
    with pytest.raises(ConfigError, match="d_model=0 is out of range"):
        open_foreign(changed("gpt2", tmp_path / "e", n_embd=0))


def test_a_model_that_does_not_fit_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "free_memory", lambda: 1000)
    with pytest.raises(ConfigError, match=r"the model needs 0\.0 GiB, and 0\.0 GiB are free"):
        open_foreign(reference("gpt2")[1])


def test_everything_that_works_on_a_model_works_on_it() -> None:
    found = open_foreign(reference("llama")[1])
    ids = torch.arange(3, 9)[None]
    with gf.record(found.model) as trace:
        found.model(ids)
    assert len(trace.attention()) == 3
    with gf.edit(found.model, {"decoder.blocks.1.self_attention.heads": gf.zero(head=2)}):
        edited = found.model(ids)
    assert not torch.equal(edited, found.model(ids))


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "qwen2"])
def test_a_mapped_model_is_the_same_model(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_weights, "MAPPED_FROM", 1)
    folder = reference(name)[1]
    mapped, copied = open_foreign(folder).model, open_foreign(folder, mapped=False).model
    assert all(x.is_contiguous() for x in copied.parameters())
    assert all(x.is_contiguous() for x in mapped.parameters()) == (name != "gpt2")  # turned by its strides
    ours, theirs = mapped.state_dict(), copied.state_dict()
    assert ours.keys() == theirs.keys() and all(torch.equal(ours[key], theirs[key]) for key in theirs)
    assert all(x.requires_grad and not x.is_meta for x in mapped.parameters())
    assert sum(x.numel() for x in mapped.parameters()) == sum(x.numel() for x in copied.parameters())


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_mapped_model_learns_as_a_copied_one_and_its_file_stays(
    name: str, fused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a fused optimiser, which takes the memory of a weight and of its gradient side by side."""
    monkeypatch.setattr(stored_weights, "MAPPED_FROM", 1)
    folder = changed(name, tmp_path, lambda tensors: {key: x.double() for key, x in tensors.items()})
    before = (folder / "model.safetensors").read_bytes()
    models = [open_foreign(folder, dtype=torch.float64, mapped=mapped).model for mapped in (True, False)]
    ids = torch.arange(3, 15).reshape(2, 6)
    for model in models:
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, fused=fused)
        for _ in range(3):
            optimizer.zero_grad()
            model(ids).logsumexp(-1).mean().backward()
            optimizer.step()
    mapped, copied = (model.state_dict() for model in models)
    assert all(torch.allclose(mapped[key], copied[key], rtol=0, atol=1e-8) for key in copied)
    assert (folder / "model.safetensors").read_bytes() == before


def test_a_weight_that_is_not_finite_is_refused_where_it_is_mapped_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_weights, "MAPPED_FROM", 1)
    for number, wrong in enumerate((float("nan"), float("inf"), -float("inf"))):

        def spoil(tensors: dict[str, torch.Tensor], wrong: float = wrong) -> dict[str, torch.Tensor]:
            tensors["transformer.h.0.mlp.c_fc.weight"][1, 2] = wrong
            return tensors

        folder = changed("gpt2", tmp_path / str(number), spoil)
        with pytest.raises(FileError, match=r"transformer\.h\.0\.mlp\.c_fc\.weight"):
            open_foreign(folder)
        assert open_foreign(folder, finite=False).model is not None
