from __future__ import annotations

import pytest
import torch

from glassformer.lessons.families.image_patches import _agreement, run
from glassformer.lessons.setup import LessonSetup
from lesson_models import tiny_result


def test_equal_maps_agree_and_opposite_ones_do_not() -> None:
    maps = torch.rand(20, 2, 2, generator=torch.Generator().manual_seed(0))
    same, opposite = _agreement(maps, maps * 3 + 1), _agreement(maps, -maps)
    assert same["correlation"]["mean"] == pytest.approx(1.0) and same["same"] == 1.0
    assert opposite["correlation"]["mean"] == pytest.approx(-1.0) and opposite["same"] == 0.0


@pytest.mark.slow
def test_another_model_looks_elsewhere() -> None:
    first, second = tiny_result("image_patches"), run(LessonSetup(seeds=(1,), effort=0.01))
    assert first["patches"] == 16 and first["tokens"] == 17
    assert first["mean_map"] != second["mean_map"]
    for row in first["examples"]:
        assert 0 < sum(map(sum, row["rollout"])) < 1
