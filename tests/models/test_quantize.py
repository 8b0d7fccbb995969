from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
import small_translator
import small_writer
from glassformer.bench.references import quiet, save
from glassformer.config.values import Choice
from glassformer.errors import InputError
from glassformer.hub.store import store
from glassformer.kernels.int8_linear import exact, to_int8
from glassformer.layers import int8
from glassformer.layers.embedding import TokenEmbedding
from glassformer.layers.head import LanguageModelHead
from glassformer.models.block import Block
from glassformer.models.quantize import is_quantized, quantize
from reference import VARIANTS, reference
from small_translator import ENGLISH, KOREAN


@torch.no_grad()
def round_weights(model: nn.Module) -> None:
    """Every weight that int8 rounds becomes what it is rounded to, and stays a float32."""
    weights: list[Tensor] = []
    for module in model.modules():
        match module:
            case Block():
                weights += [layer.weight for layer in module.modules() if isinstance(layer, nn.Linear)]
            case TokenEmbedding():
                weights.append(module.weight)
            case LanguageModelHead(weight=Tensor() as weight):
                weights.append(weight)
    for weight in weights:
        q, s = to_int8(weight)
        weight.copy_(q * s[:, None])


@pytest.fixture
def _plain_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8, "pack_int8", lambda q: None)


@pytest.mark.many
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.usefixtures("_plain_form")
def test_the_plain_form_is_the_model_with_rounded_weights(name: str) -> None:
    """Tap by tap: only the weights are rounded, and nothing else changes."""
    check_plain(reference(name)[1])


@pytest.mark.many
@pytest.mark.parametrize(
    "name", ["marian-separate", "marian", "t5", "t5-1.1", "bart", "pegasus", "vit", "deit-distilled"]
)
@pytest.mark.usefixtures("_plain_form")
def test_the_same_of_both_stacks_and_of_images(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with quiet():
        save(name, tmp_path)
    check_plain(tmp_path)


def check_plain(folder: Path) -> None:
    wide, small = gf.load(folder), gf.load(folder, dtype="int8")
    round_weights(wide.model)
    found = gf.compare(wide, small, tolerance=1e-4)
    assert is_quantized(small.model) and not is_quantized(wide.model)
    assert found.same and found.counts[0] == found.counts[1], found


@pytest.mark.skipif(not exact(), reason="this CPU has no product of 8-bit numbers")
@pytest.mark.parametrize("name", ["bert", "gpt2", "gpt2 untied", "llama tied", "qwen3"])
def test_the_fast_form_rounds_little_more(name: str) -> None:
    """Inputs are rounded to 8 bits too, by steps of the same size as the weights: an error of the same order again."""
    folder = reference(name)[1]
    wide, fast = gf.load(folder), gf.load(folder, dtype="int8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(int8, "pack_int8", lambda q: None)
        plain = gf.load(folder, dtype="int8")
    last = {which: gf.compare(wide, one).taps[-1].relative for which, one in (("fast", fast), ("plain", plain))}
    assert 0.0 < last["plain"] < 0.06 and 0.0 < last["fast"] < 0.1, last


def test_the_same_translations(tmp_path: Path) -> None:
    folder = small_translator.trained(tmp_path)
    small = gf.load(folder, dtype="int8")
    for beam in (1, 4):
        assert gf.translate(small, KOREAN, beam=beam) == gf.translate(folder, KOREAN, beam=beam) == ENGLISH


def test_the_perplexity_of_a_writer(tmp_path: Path) -> None:
    """Logits off by about 1 % of their size, as often up as down: the loss moves by less than a step of training."""
    folder = small_writer.trained(tmp_path, steps=40)
    losses = {dtype: gf.evaluate(gf.load(folder, dtype=dtype)).to_json()["loss"] for dtype in ("float32", "int8")}
    assert losses["int8"] == pytest.approx(losses["float32"], abs=0.01)
    assert losses["int8"] != losses["float32"]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama tied"])
def test_an_accelerator_has_the_plain_form(name: str) -> None:
    folder = reference(name)[1]
    wide, small = gf.load(folder, device="cuda"), gf.load(folder, device="cuda", dtype="int8")
    round_weights(wide.model)
    assert gf.compare(wide, small, tolerance=1e-3).same


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_an_accelerator_translates_the_same(tmp_path: Path) -> None:
    small = gf.load(small_translator.trained(tmp_path), device="cuda", dtype="int8")
    for beam in (1, 4):
        assert gf.translate(small, KOREAN, beam=beam) == ENGLISH


def test_what_stays_wide() -> None:
    model = quantize(_classifier())
    kinds = {name: type(module).__name__ for name, module in model.named_modules()}
    assert kinds["encoder.blocks.0.feed_forward.w_1"] == "Int8Linear" and kinds["embedding"] == "Int8TokenEmbedding"
    assert kinds["head.output"] == "Linear"
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert not model.training and not any(p.requires_grad for p in model.parameters())


def _classifier() -> nn.Module:
    return gf.build(
        gf.ModelConfig(
            family="encoder",
            vocab_size=30,
            max_len=8,
            d_model=16,
            n_heads=2,
            d_ff=32,
            n_encoder_layers=1,
            head=Choice("classifier", {"classes": 3}),
        )
    )


def test_for_use_only(tmp_path: Path) -> None:
    small = gf.load(small_translator.trained(tmp_path), dtype="int8")
    with pytest.raises(InputError, match="cannot be trained"):
        small.model.train()
    with pytest.raises(InputError, match="cannot be saved or exported"):
        torch.save(small.model.state_dict(), tmp_path / "x")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the memory")
@pytest.mark.parametrize("kind", ["folder", "run"])
def test_the_memory(kind: str, tmp_path: Path) -> None:
    """85 MB of GPT-2, nearly all of it in linear layers: hardly more than a quarter stays in memory."""
    folder = {size: tmp_path / size / kind for size in ("small", "large")}
    numbers = [_save_gpt2(tmp_path / size, layers) for size, layers in (("small", 1), ("large", 12))]
    measure = f"""
import pathlib, re, glassformer as gf
def held():
    return int(re.search(r"RssAnon:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) * 1024
small = gf.load({str(folder["small"])!r}, dtype="int8")  # what is imported on the way is no memory of weights
before = held()
large = gf.load({str(folder["large"])!r}, dtype="int8")
print(held() - before)
"""
    ran = subprocess.run([sys.executable, "-c", measure], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert 0.2 < int(ran.stdout) / (4 * numbers[-1]) < 0.3


def _save_gpt2(place: Path, layers: int) -> int:
    """As a folder of Hugging Face and as a run; returns how many numbers it holds."""
    transformers = pytest.importorskip("transformers")
    sizes = {"vocab_size": 300, "n_embd": 384, "n_layer": layers, "n_head": 6, "n_positions": 64}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(bos_token_id=0, eos_token_id=0, **sizes))
    with quiet():
        model.save_pretrained(place / "folder")
    store(place / "folder", place / "run")
    return sum(weight.numel() for weight in model.parameters())
