"""Marian with one vocabulary and with two: the same numbers as `transformers`, from its own files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import glassformer as gf
from glassformer.errors import FileError
from glassformer.hub.families.marian import MARIAN
from glassformer.hub.foreign import Foreign
from glassformer.loading import open_config
from reference_seq2seq import (
    EXACT,
    SINGLE,
    TARGET_VOCABULARY,
    UNPATCHED,
    Batch,
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
    "activation_function": "swish",
    "scale_embedding": True,
    "pad_token_id": 30,
    "decoder_start_token_id": 30,
}
TWO = SMALL | {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": TARGET_VOCABULARY}
VARIANTS = {
    "marian": Variant("MarianMTModel", SMALL),
    "marian, not scaled": Variant("MarianMTModel", SMALL | {"scale_embedding": False}),
    "marian, not tied": Variant("MarianMTModel", SMALL | {"tie_word_embeddings": False}),
    "two vocabularies": Variant("MarianMTModel", TWO),
    "two vocabularies, not tied": Variant("MarianMTModel", TWO | {"tie_word_embeddings": False}),
    "two of one size": Variant("MarianMTModel", SMALL | {"share_encoder_decoder_embeddings": False}),
    "marian without head": Variant("MarianModel", SMALL),
    "two vocabularies without head": Variant("MarianModel", TWO),
}
ALL = pytest.mark.parametrize("name", VARIANTS)


def data_of(name: str, s: int = 7, t: int = 5) -> Batch:
    return batch(s, t, target=VARIANTS[name].keys.get("decoder_vocab_size", 31))


@pytest.mark.many
@ALL
def test_logits_are_theirs(name: str, tmp_path: Path) -> None:
    """Both sides padded. Of float32 there are only the sinusoids."""
    model, reference = pair(VARIANTS[name], tmp_path)
    for lengths in ((7, 5), (3, 11), (1, 1)):
        data = data_of(name, *lengths)
        with lifted(reference):
            assert difference(ours(model, data), theirs(reference, data), data.target_mask) <= EXACT
        assert difference(ours(model, data), theirs(reference, data), data.target_mask) <= UNPATCHED
    data = data_of(name)
    assert difference(ours(model.float(), data), theirs(reference.float(), data), data.target_mask) <= SINGLE


@pytest.mark.many
@ALL
def test_padding_in_front(name: str, tmp_path: Path) -> None:
    """Ours counts real tokens, so padding in front changes nothing; theirs would move the sentence to later places."""
    model, reference = pair(VARIANTS[name], tmp_path)
    data = data_of(name)
    with lifted(reference):
        for row, alone in enumerate(unpadded(data)):
            behind, padded = theirs(reference, alone), data.in_front()
            assert difference(ours(model, padded)[row, -alone.target.shape[1] :], behind[0]) <= EXACT


@pytest.mark.many
@ALL
def test_cache(name: str, tmp_path: Path) -> None:
    model, reference = pair(VARIANTS[name], tmp_path)
    data = data_of(name, 9, 12)._replace(target_mask=torch.ones(3, 12, dtype=torch.bool))
    assert difference(steps(model, data), ours(model, data)) <= EXACT
    with lifted(reference):
        assert difference(steps(model, data), their_steps(reference, data)) <= EXACT


@pytest.mark.many
@ALL
def test_keys(name: str, tmp_path: Path) -> None:
    check_keys(VARIANTS[name], tmp_path)


@pytest.mark.many
@ALL
def test_written_back(name: str, tmp_path: Path) -> None:
    model, reference = check_written_back(VARIANTS[name], tmp_path)
    data = data_of(name)
    with lifted(reference):
        assert difference(theirs(reference, data), ours(model, data), data.target_mask) <= EXACT


def test_taps(tmp_path: Path) -> None:
    model, reference = pair(VARIANTS["two vocabularies"], tmp_path)
    data = data_of("two vocabularies")
    data = data._replace(source_mask=torch.ones(3, 7, dtype=torch.bool), target_mask=torch.ones(3, 5).bool())
    with lifted(reference):
        found = tap_differences(MARIAN, model, reference, lambda m: (ours if m is model else theirs)(m, data))
    assert max(found.values()) <= EXACT
    assert len(found) == 4 + 3 * 8 + 2 * 13


def test_their_tables_are_the_formula(tmp_path: Path) -> None:
    """What some files store is not read, because it follows from the sizes: to the rounding of float32."""
    model, reference = pair(VARIANTS["marian"], tmp_path)
    for side in ("encoder", "decoder"):
        table = getattr(reference.model, side).embed_positions.weight
        assert difference(getattr(model, side).positions.table, table.double()) <= 1e-7


EN_DE: dict[str, Any] = {  # Helsinki-NLP/opus-mt-en-de
    "model_type": "marian",
    "architectures": ["MarianMTModel"],
    "vocab_size": 58101,
    "max_position_embeddings": 512,
    "d_model": 512,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 2048,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "activation_function": "swish",
    "dropout": 0.1,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
    "scale_embedding": True,
    "pad_token_id": 58100,
}


def test_published_size() -> None:
    """Their tables of sinusoids are parameters that are never trained, ours a buffer; the offset is one in both."""
    total = gf.count(MARIAN.configure(Foreign(EN_DE, Path("config.json")), "translation")).total
    sizes = {key: value for key, value in EN_DE.items() if key not in ("model_type", "architectures")}
    reference = on_meta("MarianMTModel", sizes)
    assert total.parameters == trainable(reference)
    assert total.buffers == 2 * 512 * 512 + 58101


def test_preset_is_what_is_published() -> None:
    """But for the offset of its head, which the preset leaves out."""
    config = MARIAN.configure(Foreign(EN_DE, Path("config.json")), "translation")
    assert replace(config, head="language_model") == open_config("marian-base")


def test_one_matrix_has_one_size() -> None:
    with pytest.raises(FileError, match="decoder_vocab_size is 100; only 58101 can be built here"):
        MARIAN.configure(Foreign(EN_DE | {"decoder_vocab_size": 100}, Path("config.json")), "translation")
