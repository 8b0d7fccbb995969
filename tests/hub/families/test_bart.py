"""BART and Pegasus: the same numbers as `transformers`, from its own files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import glassformer as gf
from glassformer.config.recipe import RunConfig
from glassformer.errors import FileError
from glassformer.hub.export import Source, export
from glassformer.hub.families.bart import BART, PEGASUS
from glassformer.hub.family import Family
from glassformer.hub.foreign import Foreign
from glassformer.hub.open import open_foreign
from glassformer.loading import open_config
from reference_seq2seq import (
    EXACT,
    SINGLE,
    UNPATCHED,
    Variant,
    batch,
    check_keys,
    check_written_back,
    difference,
    lifted,
    on_meta,
    ours,
    pair,
    steps,
    tap_differences,
    their_steps,
    theirs,
    trainable,
    unpadded,
)

SMALL: dict[str, Any] = {
    "vocab_size": 31,
    "max_position_embeddings": 17,
    "d_model": 18,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_ffn_dim": 29,
    "decoder_ffn_dim": 29,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 3,
    "attention_dropout": 0.2,
}
SCALED = SMALL | {"scale_embedding": True, "activation_function": "relu", "activation_dropout": 0.1}
APART = SMALL | {"tie_word_embeddings": False}
VARIANTS = {
    "bart": (BART, Variant("BartForConditionalGeneration", SMALL)),
    "bart, scaled": (BART, Variant("BartForConditionalGeneration", SCALED)),
    "bart, not tied": (BART, Variant("BartForConditionalGeneration", APART)),
    "bart without head": (BART, Variant("BartModel", SMALL)),
    "bart without head, not tied": (BART, Variant("BartModel", APART)),
    "pegasus": (PEGASUS, Variant("PegasusForConditionalGeneration", SMALL)),
    "pegasus, scaled": (PEGASUS, Variant("PegasusForConditionalGeneration", SCALED)),
    "pegasus, not tied": (PEGASUS, Variant("PegasusForConditionalGeneration", APART)),
    "pegasus without head": (PEGASUS, Variant("PegasusModel", SCALED)),
}
ALL = pytest.mark.parametrize("name", VARIANTS)


@pytest.mark.many
@ALL
def test_logits_are_theirs(name: str, tmp_path: Path) -> None:
    """Both sides padded. Of float32 there are only the sinusoids of Pegasus."""
    model, reference = pair(VARIANTS[name][1], tmp_path)
    for lengths in ((7, 5), (3, 11), (1, 1)):
        data = batch(*lengths)
        with lifted(reference):
            assert difference(ours(model, data), theirs(reference, data), data.target_mask) <= EXACT
        assert difference(ours(model, data), theirs(reference, data), data.target_mask) <= UNPATCHED
    single = theirs(reference.float(), batch())
    assert difference(ours(model.float(), batch()), single, batch().target_mask) <= SINGLE


@pytest.mark.many
@ALL
def test_padding_in_front(name: str, tmp_path: Path) -> None:
    """Ours counts real tokens, so padding in front changes nothing; theirs would move the sentence to later places."""
    model, reference = pair(VARIANTS[name][1], tmp_path)
    data = batch()
    with lifted(reference):
        for row, alone in enumerate(unpadded(data)):
            behind, padded = theirs(reference, alone), data.in_front()
            assert difference(ours(model, padded)[row, -alone.target.shape[1] :], behind[0]) <= EXACT


@pytest.mark.many
@ALL
def test_cache(name: str, tmp_path: Path) -> None:
    model, reference = pair(VARIANTS[name][1], tmp_path)
    data = batch(9, 12)._replace(target_mask=torch.ones(3, 12, dtype=torch.bool))
    assert difference(steps(model, data), ours(model, data)) <= EXACT
    with lifted(reference):
        assert difference(steps(model, data), their_steps(reference, data)) <= EXACT


@ALL
def test_keys(name: str, tmp_path: Path) -> None:
    check_keys(VARIANTS[name][1], tmp_path)


@pytest.mark.many
@ALL
def test_written_back(name: str, tmp_path: Path) -> None:
    model, reference = check_written_back(VARIANTS[name][1], tmp_path)
    with lifted(reference):
        assert difference(theirs(reference, batch()), ours(model, batch()), batch().target_mask) <= EXACT


@pytest.mark.parametrize("name", ["bart", "bart without head", "pegasus"])
def test_taps(name: str, tmp_path: Path) -> None:
    family, variant = VARIANTS[name]
    model, reference = pair(variant, tmp_path)
    data = batch()._replace(source_mask=torch.ones(3, 7, dtype=torch.bool), target_mask=torch.ones(3, 5).bool())
    with lifted(reference):
        found = tap_differences(family, model, reference, lambda m: (ours if m is model else theirs)(m, data))
    assert max(found.values()) <= EXACT
    post = family is BART
    assert len(found) == (6 if post else 4) + 3 * (7 + post) + 2 * (11 + 2 * post)


BASE: dict[str, Any] = {  # facebook/bart-base
    "model_type": "bart",
    "architectures": ["BartModel"],
    "vocab_size": 50265,
    "max_position_embeddings": 1024,
    "d_model": 768,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_ffn_dim": 3072,
    "decoder_ffn_dim": 3072,
    "encoder_attention_heads": 12,
    "decoder_attention_heads": 12,
    "activation_function": "gelu",
    "dropout": 0.1,
    "attention_dropout": 0.1,
    "activation_dropout": 0.1,
    "scale_embedding": False,
}
LARGE = {f"{side}_{key}": n for side in ("encoder", "decoder") for key, n in (("layers", 12), ("ffn_dim", 4096))}
LARGE |= {"d_model": 1024, "encoder_attention_heads": 16, "decoder_attention_heads": 16}
SIZES: dict[str, tuple[Family, str, dict[str, Any]]] = {
    "bart-base": (BART, "BartModel", BASE),
    "bart-large-cnn": (BART, "BartForConditionalGeneration", BASE | LARGE | {"vocab_size": 50264}),
    "pegasus-xsum": (
        PEGASUS,
        "PegasusForConditionalGeneration",
        BASE | LARGE | {"vocab_size": 96103, "encoder_layers": 16, "decoder_layers": 16, "scale_embedding": True},
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_published_sizes(name: str) -> None:
    """Their tables of sinusoids are parameters that are never trained, ours a buffer; the offset is one in both."""
    family, kind, table = SIZES[name]
    total = gf.count(family.configure(Foreign(table, Path("config.json")), family.tasks[kind])).total
    sizes = {key: value for key, value in table.items() if key not in ("model_type", "architectures")}
    reference = on_meta(kind, sizes)
    assert total.parameters == trainable(reference)
    frozen = sum(p.numel() for p in reference.parameters()) - trainable(reference)
    assert total.buffers == frozen + sum(buffer.numel() for buffer in reference.buffers())


def test_preset_is_what_is_published() -> None:
    """But for the offset of its head, which the preset leaves out because it is zero there."""
    config = BART.configure(Foreign(BASE, Path("config.json")), "translation")
    assert replace(config, head="language_model") == open_config("bart-base")


def test_without_offset(tmp_path: Path) -> None:
    """A translator of ours has no offset, and needs none in their file: `transformers` then takes zeros."""
    config = gf.ModelConfig(
        vocab_size=31,
        d_model=18,
        n_heads=3,
        d_ff=29,
        n_encoder_layers=2,
        n_decoder_layers=2,
        max_len=17,
        position={"kind": "sinusoidal", "layout": "halves"},
        norm_order="pre",
        tie_embeddings="all",
        head="language_model",
    )
    model = gf.build(config, seed=1, dtype=torch.float64).eval()
    state = model.state_dict()
    forms = {key: (value.dtype, tuple(value.shape)) for key, value in state.items()}
    exported = export(Source(RunConfig(model=config), forms, state.__getitem__, None), tmp_path / "theirs")
    assert (exported.family, exported.architecture) == ("pegasus", "PegasusForConditionalGeneration")
    reference = transformers.PegasusForConditionalGeneration.from_pretrained(exported.folder, dtype=torch.float64)
    with lifted(reference):
        assert difference(theirs(reference.eval(), batch()), ours(model, batch()), batch().target_mask) <= EXACT
    again = open_foreign(exported.folder, dtype=torch.float64)
    assert torch.equal(ours(again.model, batch()), ours(model, batch()))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"decoder_attention_heads": 8}, "decoder_attention_heads is 8; only 12 can be built here"),
        ({"decoder_ffn_dim": 96}, "decoder_ffn_dim is 96; only 3072 can be built here"),
        ({"activation_function": "tanh"}, "activation_function is tanh; only relu, gelu"),
        ({"decoder_ffn_dim": None}, "has no key 'decoder_ffn_dim'"),
    ],
)
def test_what_our_boxes_cannot_be(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError, match=message):
        BART.configure(Foreign(BASE | changed, Path("config.json")), "translation")
