"""T5 of every version: the same numbers as `transformers`, from its own files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import glassformer as gf
from glassformer.errors import FileError
from glassformer.hub.families.t5 import T5
from glassformer.hub.foreign import Foreign
from glassformer.hub.open import inspect_folder, open_foreign
from glassformer.loading import open_config
from reference_seq2seq import (
    EXACT,
    SINGLE,
    UNPATCHED,
    Batch,
    Variant,
    batch,
    build,
    check_keys,
    check_written_back,
    difference,
    lifted,
    on_meta,
    ours,
    pair,
    saved,
    steps,
    tap_differences,
    their_steps,
    theirs,
    trainable,
)

SMALL: dict[str, Any] = {
    "vocab_size": 31,
    "d_model": 18,
    "d_kv": 5,
    "d_ff": 29,
    "num_layers": 3,
    "num_decoder_layers": 2,
    "num_heads": 3,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 9,
    "layer_norm_epsilon": 3e-6,
    "decoder_start_token_id": 0,
}
GATED = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
PUBLISHED = {"tie_word_embeddings": False, "scale_decoder_outputs": ...}  # as google/t5-v1_1-* and google/flan-t5-* say
VARIANTS = {
    "t5": Variant("T5ForConditionalGeneration", SMALL),
    "t5 v1.1": Variant("T5ForConditionalGeneration", SMALL | GATED, PUBLISHED),
    "t5 v1.1, tied": Variant("T5ForConditionalGeneration", SMALL | GATED),
    "t5, gated silu": Variant("T5ForConditionalGeneration", SMALL | {"feed_forward_proj": "gated-silu"}),
    "t5, gelu": Variant("T5ForConditionalGeneration", SMALL | {"feed_forward_proj": "gelu"}),
    "t5 without head": Variant("T5Model", SMALL),
    "mt5": Variant("MT5ForConditionalGeneration", SMALL, {"tie_word_embeddings": False}),
    "mt5, tied": Variant("MT5ForConditionalGeneration", SMALL),
}
ENCODER = Variant("T5EncoderModel", SMALL)
ALL = pytest.mark.parametrize("name", VARIANTS)


@pytest.mark.many
@ALL
def test_logits_are_theirs(name: str, tmp_path: Path) -> None:
    """Both sides padded. In float64 only the variance of their norm is computed in float32: lifted, it is exact."""
    model, reference = pair(VARIANTS[name], tmp_path)
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
    """Distances do not change with it: theirs and ours see the same in both layouts."""
    model, reference = pair(VARIANTS[name], tmp_path)
    flipped = Batch(*(x.flip(1) for x in batch()))
    with lifted(reference):
        expected = theirs(reference, flipped)
    assert difference(ours(model, flipped), expected, flipped.target_mask) <= EXACT


@pytest.mark.many
@ALL
def test_cache(name: str, tmp_path: Path) -> None:
    model, reference = pair(VARIANTS[name], tmp_path)
    data = batch(9, 12)._replace(target_mask=torch.ones(3, 12, dtype=torch.bool))
    assert difference(steps(model, data), ours(model, data)) <= EXACT
    with lifted(reference):
        assert difference(steps(model, data), their_steps(reference, data)) <= EXACT


def test_encoder_alone(tmp_path: Path) -> None:
    model, reference = pair(ENCODER, tmp_path)
    data = batch()
    with lifted(reference), torch.no_grad():
        expected = reference(input_ids=data.source, attention_mask=data.source_mask.long()).last_hidden_state
        assert difference(model(data.source, data.source_mask), expected, data.source_mask) <= EXACT


@pytest.mark.many
@pytest.mark.parametrize("name", [*VARIANTS, "encoder"])
def test_keys(name: str, tmp_path: Path) -> None:
    check_keys({**VARIANTS, "encoder": ENCODER}[name], tmp_path)


@pytest.mark.many
@ALL
def test_written_back(name: str, tmp_path: Path) -> None:
    model, reference = check_written_back(VARIANTS[name], tmp_path)
    with lifted(reference):
        assert difference(theirs(reference, batch()), ours(model, batch()), batch().target_mask) <= EXACT


def test_version_1_1_saved_again(tmp_path: Path) -> None:
    """`transformers` 5 says tied of every T5; two matrices that differ are two matrices, for it and for us."""
    said = VARIANTS["t5 v1.1"].said
    reference = build(VARIANTS["t5 v1.1"])
    made = type(reference).from_pretrained(saved(reference, tmp_path / "a", said), dtype=torch.float64)
    folder = saved(made, tmp_path / "b", {})
    assert inspect_folder(folder).foreign.table["tie_word_embeddings"] is True
    assert inspect_folder(folder).config == inspect_folder(tmp_path / "a").config
    with lifted(reference):
        model = open_foreign(folder, dtype=torch.float64).model
        assert difference(ours(model, batch()), theirs(reference, batch()), batch().target_mask) <= EXACT


def test_an_input_that_is_not_the_shared_matrix_is_refused(tmp_path: Path) -> None:
    folder = saved(build(VARIANTS["t5"]), tmp_path, {})
    stored = load_file(folder / "model.safetensors")
    stored["encoder.embed_tokens.weight"] = stored["shared.weight"] + 1
    save_file(stored, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(FileError, match=r"encoder\.embed_tokens\.weight"):
        open_foreign(folder)


@pytest.mark.parametrize("name", ["t5", "t5 v1.1"])
def test_taps(name: str, tmp_path: Path) -> None:
    model, reference = pair(VARIANTS[name], tmp_path)
    data = batch()._replace(source_mask=torch.ones(3, 7, dtype=torch.bool), target_mask=torch.ones(3, 5).bool())
    with lifted(reference):
        found = tap_differences(T5, model, reference, lambda m: (ours if m is model else theirs)(m, data))
    assert max(found.values()) <= EXACT
    gate = name == "t5 v1.1"
    assert len(found) == 6 + 3 * (8 + gate) + 2 * (13 + gate)


def published(**keys: Any) -> dict[str, Any]:
    """A config.json as the publishers wrote it, in what it says about sizes."""
    table = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_kv": 64, "n_positions": 512}
    return table | {"vocab_size": 32128, "relative_attention_num_buckets": 32, "dropout_rate": 0.1} | keys


SIZES = {
    "t5-small": (published(d_model=512, d_ff=2048, num_layers=6, num_heads=8), 60_506_624),
    "t5-base": (published(d_model=768, d_ff=3072, num_layers=12, num_heads=12), 222_903_552),
    "t5-large": (published(d_model=1024, d_ff=4096, num_layers=24, num_heads=16), 737_668_096),
    "flan-t5-small": (
        published(d_model=512, d_ff=1024, num_layers=8, num_decoder_layers=8, num_heads=6, **GATED),
        76_961_152,
    ),
    "flan-t5-base": (
        published(d_model=768, d_ff=2048, num_layers=12, num_decoder_layers=12, num_heads=12, **GATED),
        247_577_856,
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_published_sizes(name: str) -> None:
    """Version 1.1 is published with a matrix of its own for the output; `transformers` 5 ties it when it builds one."""
    table, expected = SIZES[name]
    config = T5.configure(Foreign(table, Path("config.json")), "translation")
    assert gf.count(config).total.parameters == expected
    forced = 0 if config.tie_embeddings == "all" else table["vocab_size"] * table["d_model"]
    assert trainable(on_meta("T5ForConditionalGeneration", table)) == expected - forced


def test_preset_is_what_is_published() -> None:
    table, _ = SIZES["t5-small"]
    assert T5.configure(Foreign(table, Path("config.json")), "translation") == open_config("t5-small")


def test_mt5_by_default() -> None:
    """What mT5 says nothing about is not what T5 means by it."""
    sizes = {"vocab_size": 250112, "d_model": 512, "d_kv": 64, "d_ff": 1024, "num_layers": 8, "num_heads": 6}
    said = {"model_type": "mt5", "tie_word_embeddings": False}
    config = T5.configure(Foreign(sizes | said, Path("config.json")), "translation")
    assert (config.feed_forward.kind, config.activation, dict(config.head.options)) == ("gated", "gelu_tanh", {})
    assert gf.count(config).total.parameters == 300_176_768  # google/mt5-small
    assert trainable(on_meta("MT5ForConditionalGeneration", sizes)) == 300_176_768 - 250112 * 512


def test_words_that_we_do_not_have() -> None:
    table = SIZES["t5-small"][0] | {"feed_forward_proj": "gated-tanh"}
    with pytest.raises(FileError, match=r"feed_forward_proj is gated-tanh; only relu, gelu, .* can be built here"):
        T5.configure(Foreign(table, Path("config.json")), "translation")
    with pytest.raises(FileError, match="has no key 'd_model'"):
        T5.configure(
            Foreign({"model_type": "t5", "num_layers": 2, "vocab_size": 9}, Path("config.json")), "translation"
        )


def test_a_model_that_t5_cannot_be_is_described_as_another() -> None:
    """The exporter sees by the difference what cannot be said: exact GELU behind a gate, separate inputs."""
    config = T5.configure(Foreign(SIZES["flan-t5-small"][0], Path("config.json")), "translation")
    for key, value in (("activation", "gelu"), ("tie_embeddings", "none")):
        other = replace(config, **{key: value})
        back = T5.configure(Foreign(T5.describe(other, "translation"), Path("config.json")), "translation")
        assert back != other
