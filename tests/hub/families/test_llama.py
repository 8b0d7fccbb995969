from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from families import check, check_inverse, check_taps, compare, step_by_step
from glassformer.config.model import ModelConfig
from glassformer.errors import FileError
from glassformer.hub.effective_config import differing_keys
from glassformer.hub.families.llama import LLAMA, MISTRAL, QWEN2, QWEN3
from glassformer.hub.family import Family
from glassformer.hub.foreign import Foreign
from glassformer.models.presets import PRESETS
from reference import VARIANTS, reference

NAMES = [name for name in VARIANTS if name.startswith(("llama", "mistral", "qwen"))]
WRITERS = [name for name in NAMES if not name.endswith(("classifier", "body"))]


@pytest.mark.many
@pytest.mark.parametrize("name", NAMES)
def test_the_answers_are_those_of_the_reference(name: str) -> None:
    check(name, *reference(name))


@pytest.mark.parametrize("name", NAMES)
def test_describing_is_the_inverse_of_configuring(name: str) -> None:
    check_inverse(name, reference(name)[1])


@pytest.mark.many
@pytest.mark.parametrize("name", NAMES)
def test_padding_in_front_moves_nothing(name: str) -> None:
    model, folder = reference(name)
    assert compare(model, folder, torch.float64, left=True, lift=True).absolute <= 1e-10


@pytest.mark.many
@pytest.mark.parametrize("name", WRITERS)
def test_with_a_cache_step_by_step(name: str) -> None:
    assert step_by_step(*reference(name)).absolute <= 1e-10


def configured(family: Family, **table: Any) -> ModelConfig:
    return family.configure(Foreign(table, Path("config.json")), "language_model")


def test_published_sizes_are_our_presets() -> None:
    llama3 = {
        "vocab_size": 128256,
        "intermediate_size": 14336,
        "num_key_value_heads": 8,
        "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
    }
    assert not differing_keys(configured(LLAMA, **llama3), PRESETS["llama3-8b"]())
    qwen3 = {
        "hidden_size": 1024,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "max_position_embeddings": 40960,
        "rope_theta": 1000000,
        "tie_word_embeddings": True,
    }
    assert not differing_keys(configured(QWEN3, **qwen3), PRESETS["qwen3-0.6b"]())


def test_a_window_that_is_null_is_not_one_that_is_missing() -> None:
    assert configured(MISTRAL).window == 4096
    assert configured(MISTRAL, sliding_window=None).window is None
    assert configured(MISTRAL, num_key_value_heads=None).n_kv_heads == 32
    assert configured(MISTRAL).n_kv_heads == 8


def test_a_window_in_some_layers() -> None:
    table = {"num_hidden_layers": 3, "sliding_window": 5, "use_sliding_window": True}
    found = configured(QWEN2, **table, max_window_layers=2)
    assert (found.window, found.window_from) == (5, 2)
    assert configured(QWEN2, **table, max_window_layers=0).window_from == 0
    assert configured(QWEN2, **table).window is None  # from layer 28 on
    assert configured(QWEN2, **{**table, "use_sliding_window": False}, max_window_layers=0).window is None
    with pytest.raises(
        FileError, match=r"layer_types is \['sliding_attention', 'full_attention'.*; only full_attention … s"
    ):
        configured(QWEN2, **table, layer_types=["sliding_attention", "full_attention", "sliding_attention"])


@pytest.mark.parametrize(("name", "count"), [("llama", 18), ("qwen3", 18), ("mistral", 18), ("llama body", 17)])
def test_taps_are_the_outputs_of_their_modules(name: str, count: int) -> None:
    check_taps(*reference(name), count)
