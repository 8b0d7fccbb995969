from __future__ import annotations

import pytest
import torch

from glassformer.lessons.norm.batch_norm import BatchNorm
from glassformer.lessons.norm.norm_kinds_experiment import experiment, model_with, padded_share, train
from glassformer.lessons.setup import LessonSetup


@pytest.mark.slow
def test_only_batch_norm_differs_between_the_modes_and_padding_is_left_out_where_it_is_told() -> None:
    material = experiment(LessonSetup(effort=0.01))
    found = {kind: train(material, kind, 8, 0, 3) for kind in ("layer", "rms", "batch", "batch_real")}
    assert found["layer"]["gap"] == 0.0 and found["rms"]["gap"] == 0.0
    assert found["batch"]["gap"] > 0.0 and found["batch_real"]["gap"] > 0.0
    assert len({one["loss"] for one in found.values()}) == 4
    assert padded_share(material, 8, 0) > 0.0

    model = model_with("batch_real", material.config({}, 0), pad=0).train()
    source, target = torch.tensor([[5, 6, 7], [5, 6, 0]]), torch.tensor([[1, 5, 6], [1, 5, 0]])
    model(source, target, torch.tensor([[True] * 3, [True, True, False]]))
    told = {name.partition(".")[0]: m.real for name, m in model.named_modules() if isinstance(m, BatchNorm)}
    assert {side: int(real.sum()) for side, real in told.items() if real is not None} == {"encoder": 5, "decoder": 5}
