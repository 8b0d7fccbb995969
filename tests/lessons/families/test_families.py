from __future__ import annotations

import torch

from glassformer.layers.attention.mask import Mask
from glassformer.lessons.families.families import SOURCE, TARGET, influence, run
from glassformer.lessons.setup import LessonSetup


def test_the_masks_are_those_of_the_families() -> None:
    found = run(LessonSetup())["families"]
    s, t = len(SOURCE), len(TARGET)
    assert found["encoder"]["open"] == s * s
    assert found["decoder"]["open"] == t * (t + 1) // 2
    assert found["encoder-decoder"]["open"] == s * s + t * s + t * (t + 1) // 2
    both = found["encoder-decoder"]["influence"]
    assert all(value is None for row in both[:s] for value in row[s:])


def test_influence_is_measured() -> None:
    weight = torch.tensor([[1.0, 0.0], [2.0, 3.0]])
    found = influence(lambda x: weight @ x, torch.ones(1, 2, 1))
    assert found == [[1.0, None], [2.0, 3.0]]


def test_other_weights_give_other_sizes_but_the_same_paths() -> None:
    first, second = (run(LessonSetup(seeds=(seed,)))["families"]["decoder"] for seed in (0, 1))
    assert first["influence"] != second["influence"]
    assert first["open"] == second["open"]
    assert Mask(causal=True).causal
