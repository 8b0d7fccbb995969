"""Stored tensors that follow from the configuration: compared with what is computed here, never dropped unseen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor

import glassformer as gf
from foreign_folder import changed
from glassformer.errors import FileError
from glassformer.hub.open import open_foreign
from glassformer.hub.store import store
from reference import reference

SIDES = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
SIZES = {"vocab_size": 31, "d_model": 12, "max_position_embeddings": 9, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
TOKENS = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
MODELS = {"marian": "MarianMTModel", "pegasus": "PegasusForConditionalGeneration"}


def translator(name: str, folder: Path, make: Any) -> Path:
    """A folder that stores the positions of both sides; `make`: as computed → as stored."""
    kind = getattr(transformers, MODELS[name])
    torch.manual_seed(0)
    model = kind(kind.config_class(**SIDES, **SIZES, **TOKENS)).eval()
    model.save_pretrained(folder)
    tensors = load_file(folder / "model.safetensors")
    for side in ("encoder", "decoder"):
        tensors[f"model.{side}.embed_positions.weight"] = make(
            getattr(model.model, side).embed_positions.weight.detach().clone()
        )
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def logits(name: str, folder: Path) -> tuple[Tensor, Tensor]:
    """Ours and those of `transformers`, in float64."""
    source, target = torch.randint(2, 31, (2, 7)), torch.randint(2, 31, (2, 5))
    theirs = getattr(transformers, MODELS[name]).from_pretrained(folder, dtype=torch.float64).eval()
    ours = open_foreign(folder, dtype=torch.float64).model
    with torch.no_grad():
        return ours(source, target), theirs(input_ids=source, decoder_input_ids=target).logits


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_positions_that_are_no_sinusoids_are_used_as_they_are_stored(name: str, tmp_path: Path) -> None:
    folder = translator(name, tmp_path / "hf", lambda table: torch.randn_like(table))
    ours, theirs = logits(name, folder)
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-6)
    store(folder, tmp_path / "run")
    run = gf.load(tmp_path / "run", dtype="float64")
    assert run.config.model.position.kind == "learned"
    with torch.no_grad():
        source, target = torch.tensor([[5, 6, 1]]), torch.tensor([[0, 7]])
        assert torch.equal(run.model(source, target), open_foreign(folder, dtype=torch.float64).model(source, target))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_stored_sinusoids_are_computed(name: str, dtype: torch.dtype, tmp_path: Path) -> None:
    folder = translator(name, tmp_path / "hf", lambda table: table.to(dtype))
    found = open_foreign(folder)
    assert found.config.model.position.kind == "sinusoidal"


def test_positions_of_another_length_are_refused(tmp_path: Path) -> None:
    folder = translator("marian", tmp_path, lambda table: table[:-1])
    with pytest.raises(FileError, match=r"embed_positions\.weight is 8×12, but its config\.json means 9×12"):
        open_foreign(folder)


CAUSAL = torch.tril(torch.ones(23, 23))[None, None]
STORED: dict[str, tuple[str, str, Tensor, Tensor]] = {  # reference, key, as it should be, as it should not
    "position ids": (
        "bert",
        "bert.embeddings.position_ids",
        torch.arange(23)[None],
        torch.arange(23).flip(0)[None],
    ),
    "segments": ("bert", "bert.embeddings.token_type_ids", torch.zeros(1, 23).long(), torch.ones(1, 23).long()),
    "a causal mask": ("gpt2", "transformer.h.0.attn.bias", CAUSAL, torch.ones_like(CAUSAL)),
    "a causal mask of bytes": ("gpt2", "h.1.attn.bias", CAUSAL.to(torch.uint8), CAUSAL.flip(2).to(torch.uint8)),
    "a causal mask of truths": ("gpt2", "h.1.attn.bias", CAUSAL.bool(), ~CAUSAL.bool()),
    "frequencies": (
        "llama",
        "model.layers.0.self_attn.rotary_emb.inv_freq",
        10000.0 ** -torch.tensor([0.0, 0.5]),
        500000.0 ** -torch.tensor([0.0, 0.5]),
    ),
    "rounded frequencies": (
        "llama",
        "model.layers.0.self_attn.rotary_emb.inv_freq",
        (10000.0 ** -torch.tensor([0.0, 0.5])).bfloat16(),
        torch.ones(2).bfloat16(),
    ),
}


@pytest.mark.parametrize("case", STORED)
def test_what_is_computed_here_must_be_what_is_stored(case: str, tmp_path: Path) -> None:
    name, key, right, wrong = STORED[case]
    assert json.loads((reference(name)[1] / "config.json").read_text())["model_type"] == name
    open_foreign(changed(name, tmp_path / "right", lambda tensors: tensors | {key: right}))
    with pytest.raises(FileError, match=r"is not what its config\.json means.*it is computed") as caught:
        open_foreign(changed(name, tmp_path / "wrong", lambda tensors: tensors | {key: wrong}))
    assert key in str(caught.value)
