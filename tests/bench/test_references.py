from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
import torch
from torch import nn

from glassformer.bench.references import (
    VARIANTS,
    edit_json,
    enliven,
    need_transformers,
    opened,
    opened_lifted,
    quiet,
    save,
    sinusoid_tables,
)
from glassformer.errors import ConfigError

pytest.importorskip("transformers")


def test_the_variants_are_many_and_none_is_there_twice() -> None:
    assert len(VARIANTS) >= 20
    described = [(each.architecture, each.options, each.head, each.edits) for each in VARIANTS.values()]
    assert all(described.count(one) == 1 for one in described)


def test_without_the_package_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="bench families needs a package that is not installed; pip install 'transf"):
        need_transformers("families")


def test_the_same_seed_gives_the_same_model_and_another_another(tmp_path: Path) -> None:
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        save("gpt2", tmp_path / folder, seed=seed)
    first, second, third = ((tmp_path / folder / "model.safetensors").read_bytes() for folder in "abc")
    assert first == second != third


def test_edits_change_a_json_file_and_none_takes_a_key_away(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"a": 1, "b": 2}')
    edit_json(path, {"a": None, "b": 3, "c": [4]})
    assert json.loads(path.read_text()) == {"b": 3, "c": [4]}


def test_no_norm_is_one_and_no_bias_nothing() -> None:
    model = nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6))
    model.register_buffer("final_logits_bias", torch.zeros(1, 6))
    enliven(model, 0)
    assert bool((model[1].weight != 1).all())
    assert bool((model[1].bias != 0).all())
    assert bool((model.get_buffer("final_logits_bias") != 0).all())


def test_a_head_of_its_own_is_stored_and_opened(tmp_path: Path) -> None:
    save("t5-1.1", tmp_path)
    model = opened("t5-1.1", tmp_path, torch.float32)
    assert not torch.equal(model.lm_head.weight, model.shared.weight)


def test_sinusoids_are_opened_in_float64(tmp_path: Path) -> None:
    save("marian", tmp_path)
    lifts, plain = opened_lifted("marian", tmp_path), opened("marian", tmp_path, torch.float64)
    assert len(sinusoid_tables(lifts)) == len(sinusoid_tables(plain)) == 2
    exact = torch.tensor(5.0, dtype=torch.float64).sin()  # position 5, first sine
    assert sinusoid_tables(lifts)[0].weight[5, 0].item() == float(exact)
    assert sinusoid_tables(plain)[0].weight[5, 0].item() == float(exact.float())
    assert not sinusoid_tables(nn.Linear(2, 2))


def test_quiet_leaves_the_peer_as_it_was() -> None:
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    with quiet():
        assert logging.get_verbosity() == logging.ERROR
        assert not logging.is_progress_bar_enabled()
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == (level, bars)


@pytest.mark.parametrize("name", ["llama-dynamic", "llama-yarn"])
def test_only_dynamic_angles_depend_on_the_length(name: str) -> None:
    assert VARIANTS[name].by_length == (name == "llama-dynamic")
