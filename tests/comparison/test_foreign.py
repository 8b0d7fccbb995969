from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import nn

import glassformer as gf
from glassformer.bench.lift import lifted
from glassformer.comparison import foreign as compare_transformers
from glassformer.comparison.foreign import Theirs, as_ours, is_theirs, theirs, theirs_in
from glassformer.errors import FileError, GlassformerError, InputError
from glassformer.hub.families import FAMILIES
from glassformer.hub.family import Family
from glassformer.hub.open import open_foreign
from glassformer.text import Vocabularies
from reference import VARIANTS, _make, reference, saved
from small_translator import KOREAN

TWO_SIDES = {
    "vocab_size": 41,
    "d_model": 15,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 3,
    "encoder_ffn_dim": 22,
    "decoder_ffn_dim": 22,
    "max_position_embeddings": 23,
    "pad_token_id": 1,
    "decoder_start_token_id": 2,
    "eos_token_id": 2,
}
T5_SIZES = {"vocab_size": 41, "d_model": 15, "d_kv": 4, "d_ff": 22, "num_layers": 2, "num_decoder_layers": 3}
T5_SIZES |= {"num_heads": 3, "decoder_start_token_id": 0}
IMAGE = {"hidden_size": 15, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 22}
IMAGE |= {"image_size": 12, "patch_size": 4, "num_labels": 5}
MORE = {
    "t5": _make("T5ForConditionalGeneration", "T5Config", **T5_SIZES),
    "t5 gated": _make("T5ForConditionalGeneration", "T5Config", **T5_SIZES, feed_forward_proj="gated-gelu"),
    "t5 body": _make("T5Model", "T5Config", **T5_SIZES),
    "t5 encoder": _make("T5EncoderModel", "T5Config", **T5_SIZES),
    "bart": _make("BartForConditionalGeneration", "BartConfig", **TWO_SIDES),
    "bart body": _make("BartModel", "BartConfig", **TWO_SIDES, scale_embedding=True),
    "pegasus": _make("PegasusForConditionalGeneration", "PegasusConfig", **{**TWO_SIDES, "d_model": 18}),
    "marian": _make("MarianMTModel", "MarianConfig", **{**TWO_SIDES, "d_model": 18}),
    "marian of two vocabularies": _make(
        "MarianMTModel",
        "MarianConfig",
        **{**TWO_SIDES, "d_model": 18},
        decoder_vocab_size=37,
        share_encoder_decoder_embeddings=False,
        tie_word_embeddings=False,
    ),
    "vit": _make("ViTForImageClassification", "ViTConfig", **IMAGE),
    "vit body": _make("ViTModel", "ViTConfig", **IMAGE),
    "deit": _make("DeiTForImageClassification", "DeiTConfig", **IMAGE),
    "deit with teacher": _make("DeiTForImageClassificationWithTeacher", "DeiTConfig", **IMAGE),
}
ALL = [*VARIANTS, *MORE]
ONE_OF_EACH = ["bert", "roberta", "gpt2", "llama", "mistral", "qwen2", "qwen3", "t5", "t5 gated", "bart", "pegasus"]
ONE_OF_EACH += ["marian", "vit", "deit"]
SUBLAYERS = ("self_attention.output", "cross_attention.output", "feed_forward.output")
CLOSE = 16 * 2**-23  # relative, in float64: their tables of angles and sinusoids have seen a dozen roundings to float32


@cache
def more(name: str) -> tuple[Any, Path]:
    """As `reference`, but what is never trained, the sinusoids, stays."""
    model, folder = saved(name, MORE[name])
    table = {key: x for key, x in MORE[name]().named_parameters() if not x.requires_grad}
    model.load_state_dict(table, strict=False)
    model.save_pretrained(folder)
    return model, folder


def pair(name: str) -> tuple[nn.Module, Any, Path]:
    """Ours and theirs with the same numbers, and their folder."""
    model, folder = more(name) if name in MORE else reference(name)
    return open_foreign(folder).model, model, folder


def compared(ours: nn.Module, model: Any) -> Any:
    """Both in float64, and nothing of theirs in float32: in float32 the rounding depends on the processor."""
    with lifted():
        return gf.compare(copy.deepcopy(ours).double(), copy.deepcopy(model).double())


def family_of(model: Any) -> Family:
    return next(each for each in FAMILIES.values() if model.config.model_type in each.model_types)


@pytest.mark.many
@pytest.mark.parametrize("name", ALL)
def test_equal_models_agree_at_all_matched_taps(name: str) -> None:
    ours, model, _ = pair(name)
    assert gf.compare(ours, model).same  # in float32, as people will ask
    found = compared(ours, model)
    assert found.matched and found.same and found.first is None
    assert found.worst.relative < CLOSE
    layers = [each for each in gf.taps(ours) if ".blocks." in each and each.endswith("feed_forward.output")]
    named = {each.tap for each in found.taps}
    assert {*layers, *(each.replace("feed_forward.output", "self_attention.output") for each in layers)} <= named
    assert found.counts[1] == len(found.taps)
    if "head.logits" in gf.taps(ours):
        assert "head.logits" in named and found.answers is not None and found.answers.changed == 0


def places(name: str) -> list[str]:
    """Every sub-layer of every layer of ours."""
    ours, _, _ = pair(name)
    return [each for each in gf.taps(ours) if ".blocks." in each and each.endswith(SUBLAYERS)]


@pytest.mark.many
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_changed_weight_of_theirs_is_named_where_it_stands(name: str) -> None:
    ours, model, _ = pair(name)
    for tap in places(name):
        changed = copy.deepcopy(model)
        module = Theirs(changed, family_of(model))._module(tap)
        assert module is not None
        with torch.no_grad():
            list(module.parameters())[-1].add_(0.3)  # the last of a sub-layer is the matrix or the bias that ends it
        assert (first := gf.compare(ours, changed).first) is not None and first.tap == tap
        found = compared(ours, changed)
        assert found.first is not None and found.first.tap == tap
        assert all(each.relative < CLOSE for each in found.taps[: found.taps.index(found.first)])


LAYERS = {"bert": "encoder.layer", "gpt2": "h", "llama": "layers", "t5": "decoder.block", "bart": "decoder.layers"}


@pytest.mark.many
@pytest.mark.parametrize("name", LAYERS)
def test_any_weight_of_a_layer_is_named_in_that_layer(name: str) -> None:
    ours, model, _ = pair(name)
    stack = "decoder" if "decoder.output" in gf.taps(ours) else "encoder"
    random = torch.Generator().manual_seed(0)
    for layer in range(3):
        inside = [each for each, _ in model.named_parameters() if f"{LAYERS[name]}.{layer}." in each]
        for weight in inside[:: max(len(inside) // 5, 1)]:
            changed = copy.deepcopy(model)
            parameter = changed.get_parameter(weight)
            with torch.no_grad():
                parameter.add_(0.5 * torch.randn(parameter.shape, generator=random))
            found = gf.compare(ours, changed)
            assert found.first is not None and found.first.tap.startswith(f"{stack}.blocks.{layer}."), weight


def test_the_folder_on_both_sides() -> None:
    ours, model, folder = pair("bart")
    found = gf.compare(ours, folder, transformers=True)
    assert found.same and found.b == f"BartForConditionalGeneration ({folder})"
    assert gf.compare(ours.double(), folder, transformers=True).notes == ()  # it is opened in the type of A
    assert [each.say("en") for each in gf.compare(ours, model).notes] == ["A computes in float64, B in float32"]


def test_a_body_without_an_architecture_is_opened_too(tmp_path: Path) -> None:
    ours, model, _ = pair("llama body")
    model.config.architectures, before = None, model.config.architectures
    model.save_pretrained(tmp_path)
    model.config.architectures = before
    assert gf.compare(ours, tmp_path, transformers=True).same


def test_ids_of_ones_own() -> None:
    ours, model, _ = pair("gpt2")
    assert gf.compare(ours, model, torch.tensor([[3, 1, 4, 1, 5, 9, 2]])).inputs == (1, 7)
    with pytest.raises(InputError, match=r"no such token|out of range|vocabulary"):
        gf.compare(ours, model, torch.tensor([[3, 99]]))


def test_texts_of_several_lengths(tmp_path: Path) -> None:
    """The folder's tokenizer splits them; padding is theirs, by which RoBERTa counts its places."""
    for name in ("gpt2", "roberta"):
        folder = Path(shutil.copytree(pair(name)[2], tmp_path / name))
        Vocabularies.train("words", KOREAN, KOREAN, 17).source.save(folder)
        found = gf.compare(folder, folder, [KOREAN[0], KOREAN[7], "나는"], transformers=True)
        assert found.same and found.inputs[0] == 3 and found.notes == ()


def test_what_stands_where_it_cannot() -> None:
    ours, model, _ = pair("gpt2")
    with pytest.raises(InputError, match=r"'GPT2LMHeadModel' is not a whole model of ours; .* stands second"):
        gf.compare(model, ours)
    with pytest.raises(InputError, match=r"is not a folder for transformers to open; name one, or leave out"):
        gf.compare(ours, ours, transformers=True)
    assert gf.compare(ours, model, transformers=True).same


def test_nothing_about_their_model_changes() -> None:
    ours, model, _ = pair("gpt2")
    model.train()
    gf.compare(ours, model)
    assert all(module.training for module in model.modules())
    assert not any(module._forward_hooks for module in model.modules())
    model.eval()


def test_what_they_refuse_is_one_line_and_leaves_no_hook() -> None:
    ours, model, _ = pair("gpt2")
    shorter = copy.deepcopy(model)
    shorter.transformer.wpe = nn.Embedding(4, 15)
    with pytest.raises(InputError, match=r"the model of transformers does not take this input: index out of range"):
        gf.compare(ours, shorter)
    assert not any(module._forward_hooks for module in shorter.modules())


def test_a_family_that_is_not_known() -> None:
    config = transformers.ElectraConfig(vocab_size=9, hidden_size=8, num_attention_heads=2, num_hidden_layers=1)
    with pytest.raises(InputError, match=r"model_type='electra' is of no family that can be matched; there are: bert"):
        gf.compare(pair("bert")[0], transformers.ElectraModel(config))


def test_models_of_two_families_share_no_tap() -> None:
    with pytest.raises(InputError, match=r"no tap of DecoderOnly matches a module of BertModel"):
        gf.compare(pair("gpt2 body")[0], pair("bert body")[1])


def test_another_size_parts_the_structures() -> None:
    config = transformers.GPT2Config(vocab_size=41, n_embd=18, n_layer=3, n_head=3, n_positions=23)
    found = gf.compare(pair("gpt2")[0], transformers.GPT2LMHeadModel(config))
    assert found.parting is not None and found.parting.a == found.parting.b == "embedding.output"
    assert (found.parting.shape_a, found.parting.shape_b) == ((3, 9, 15), (3, 9, 18))


def test_a_folder_that_transformers_cannot_open(tmp_path: Path) -> None:
    ours = pair("gpt2")[0]
    with pytest.raises(FileError, match=r"cannot be opened by transformers: .*; it needs a folder with config.json"):
        gf.compare(ours, tmp_path, transformers=True)
    with pytest.raises(FileError, match="no such file"):
        gf.compare(ours, tmp_path / "nothing", transformers=True)
    _, model, _ = pair("gpt2")
    model.config.save_pretrained(tmp_path)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(FileError, match="cannot be opened by transformers"):  # a pickle is never loaded
        gf.compare(ours, tmp_path, transformers=True)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match=r"--transformers needs the library transformers; install it"):
        theirs_in(tmp_path)
    assert not is_theirs(nn.Linear(1, 1))


@pytest.mark.slow
def test_the_library_is_not_loaded_for_models_of_ours() -> None:
    code = """
import sys
import glassformer as gf
model = gf.build({"preset": "small-decoder", "n_decoder_layers": 1})
assert gf.compare(model, model).identical and "transformers" not in sys.modules
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_layouts() -> None:
    x = torch.arange(24.0).reshape(1, 2, 12)  # b t h·d_k
    heads = as_ours(x, (1, 3, 2, 4))
    assert heads.shape == (1, 3, 2, 4) and torch.equal(heads.transpose(1, 2).flatten(2), x)
    rows = as_ours(x[0], (5, 2, 12))
    assert rows.shape == (5, 2, 12) and torch.equal(rows[3], x[0])
    assert as_ours(x, (5, 2, 12)).shape == (5, 2, 12) and as_ours(x, (2, 12)).shape == (2, 12)
    assert torch.equal(as_ours(x, (1, 2, 12)), x)
    assert as_ours(x, (1, 3, 5, 4)).shape == (1, 2, 12)  # as it is


def test_what_they_read() -> None:
    assert theirs(pair("roberta")[1]).reads.pad == 1
    assert compare_transformers._reads(transformers.LlamaConfig(pad_token_id=-1)).pad is None
    marian = theirs(pair("marian of two vocabularies")[1]).reads
    assert marian.target is not None and (marian.source.vocab_size, marian.target.vocab_size) == (41, 37)
    assert theirs(pair("vit")[1]).reads.source.shape == (3, 12, 12)
    config = pair("vit")[1].config.__class__(**{**IMAGE, "image_size": [12, 8]})
    assert compare_transformers._reads(config).source.shape == (3, 12, 8)


def test_a_program_in_their_folder_is_never_run(tmp_path: Path) -> None:
    table = {"model_type": "unheard-of", "auto_map": {"AutoConfig": "conf.C"}}
    (tmp_path / "config.json").write_text(json.dumps(table))
    (tmp_path / "conf.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(GlassformerError):
        theirs_in(tmp_path)
    assert not (tmp_path / "ran").exists()
