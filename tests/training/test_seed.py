from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from glassformer.training.seed import kept_random_state, random_state, seed_all, set_random_state, settings

CPU = torch.device("cpu")


def draw() -> list[float]:
    """From every generator; gauss draws in pairs and keeps one."""
    return [
        random.random(),
        random.gauss(),
        np.random.rand(),
        np.random.randn(),
        torch.rand(1).item(),
        torch.randn(1).item(),
    ]


def test_a_seed_decides_everything() -> None:
    seed_all(5)
    first = draw()
    seed_all(5)
    assert draw() == first
    seed_all(6)
    assert draw() != first


def test_states_survive_a_file(tmp_path: Path) -> None:
    seed_all(1)
    draw()
    save_file(random_state(CPU), tmp_path / "random.safetensors")
    expected = [draw(), draw()]
    seed_all(2)
    set_random_state(load_file(tmp_path / "random.safetensors"), CPU)
    assert [draw(), draw()] == expected


def test_what_is_drawn_inside_changes_nothing_outside() -> None:
    seed_all(1)
    expected = draw()
    seed_all(1)
    with pytest.raises(KeyError), kept_random_state(CPU):
        draw()
        raise KeyError
    assert draw() == expected


def test_settings_last_as_long_as_they_should() -> None:
    before = torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()
    with settings(deterministic=True, threads=1):
        assert torch.get_num_threads() == 1
        with pytest.raises(RuntimeError, match="deterministic"):
            torch.zeros(3).put_(torch.tensor([0, 0]), torch.ones(2), accumulate=False)
    assert (torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()) == before
    with settings(deterministic=False, threads=None):
        assert (torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()) == before
