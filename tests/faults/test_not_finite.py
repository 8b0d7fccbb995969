"""Weights or answers that are NaN or infinite: one line that names them, never an empty or `nan` answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

import glassformer as gf
from foreign_models import MODELS
from glassformer.cli.app import main
from glassformer.decoding import Limits, beam_search, greedy, sample
from glassformer.errors import FileError, GlassformerError, InputError
from glassformer.hub.store import store
from small_classifier import trained

VERBS: dict[str, tuple[str, Callable[[Any, Path], Any]]] = {
    "generate": ("gpt2", lambda model, folder: gf.generate(model, "I go")),
    "generate by beams": ("llama", lambda model, folder: gf.generate(model, "I go", beam=3)),
    "generate drawn": ("llama", lambda model, folder: gf.generate(model, "I go", seed=1)),
    "fill": ("bert", lambda model, folder: gf.fill(model, "I [MASK] home")),
    "embed": ("bert body", lambda model, folder: gf.embed(model, "I go")),
    "classify": ("bert classifier", lambda model, folder: gf.classify(model, ["I go", "you"])),
    "translate": ("marian", lambda model, folder: gf.translate(model, "I go", beam=1)),
    "translate by beams": ("t5", lambda model, folder: gf.translate(model, ["I go", "you go"])),
    "recognise": ("vit", lambda model, folder: gf.recognise(model, picture(folder))),
}


def picture(folder: Path) -> Path:
    Image.new("RGB", (8, 8), (10, 200, 30)).save(folder / "picture.png")
    return folder / "picture.png"


def spoiled(folder: Path, number: float, how_many: int | None = None) -> str:
    """One matrix of the folder gets this number, everywhere or `how_many` times; its name."""
    tensors = load_file(folder / "model.safetensors")
    name = next(key for key in sorted(tensors) if (tensors[key].dim() == 2 and "layer" in key) or ".h." in key)
    tensors[name].view(-1)[:how_many] = number
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return name


@pytest.mark.many
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", ["gpt2", "bert", "marian", "vit"])
def test_weights_that_are_not_finite_are_not_loaded(name: str, number: float, tmp_path: Path) -> None:
    MODELS[name](tmp_path / "hf")
    tensor = spoiled(tmp_path / "hf", number, 3)
    for use in (gf.load, lambda folder: store(folder, tmp_path / "run")):
        with pytest.raises(FileError, match=r"3 of its .* numbers are NaN or infinite") as caught:
            use(tmp_path / "hf")
        assert tensor in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_they_are_imported_and_opened_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    MODELS["gpt2"](tmp_path / "hf")
    spoiled(tmp_path / "hf", float("nan"))
    said = ["import", str(tmp_path / "hf"), "--out", str(tmp_path / "run"), "--lang", "en"]
    assert run(said) == 1 and "--allow-nonfinite" in capsys.readouterr().err
    assert run([*said, "--allow-nonfinite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["family"] == "gpt2"
    assert run(["generate", str(tmp_path / "run"), "I go", "--lang", "en"]) == 1
    complaint = capsys.readouterr()
    assert complaint.out == "" and complaint.err.count("\n") == 1 and "NaN or infinite" in complaint.err
    loaded = gf.load(tmp_path / "run", finite=False)
    assert any(not x.isfinite().all() for x in loaded.model.parameters())
    with pytest.raises(InputError, match="not finite"):
        gf.generate(loaded, "I go")


@pytest.mark.many
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_an_answer_that_is_not_finite_is_an_error(verb: str, number: float, tmp_path: Path) -> None:
    name, use = VERBS[verb]
    MODELS[name](tmp_path)
    loaded = gf.load(tmp_path)
    use(loaded, tmp_path)
    with torch.no_grad():
        next(x for x in loaded.model.parameters() if x.dim() > 1).fill_(number)
    with pytest.raises(InputError, match=r"what the model computes is not finite: .*NaN or infinite"):
        use(loaded, tmp_path)


@pytest.mark.parametrize("search", [greedy, beam_search, sample])
def test_every_search_says_so(search: Callable[..., Any]) -> None:
    model = gf.build("gpt2", layers=1, d_model=16, n_heads=2, d_ff=16, vocab_size=100, max_len=30)
    with torch.no_grad():
        model.embedding.weight[5, 0] = float("nan")
    with pytest.raises(InputError, match="not finite"):
        search(model, torch.tensor([[1, 5]]), limits=Limits(eos=None, max_len=4))


def test_an_evaluation_says_so(tmp_path: Path) -> None:
    loaded = trained(tmp_path)
    model = gf.load(loaded)
    with torch.no_grad():
        next(model.model.parameters()).fill_(float("nan"))
    with pytest.raises(GlassformerError, match="NaN or infinite"):
        gf.evaluate(model)


def run(words: list[str]) -> int:
    with pytest.raises(SystemExit) as stop:
        main(words)
    return int(stop.value.code or 0)
