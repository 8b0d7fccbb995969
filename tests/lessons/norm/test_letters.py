from __future__ import annotations

from math import log
from typing import Any

import pytest
from torch import nn

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig
from glassformer.lessons.experiment import Outcome
from glassformer.lessons.norm.letters import final_loss, first_gradients, letters, stream_sizes, train_letters
from glassformer.lessons.setup import LessonSetup


def ended(loss: float) -> Outcome:
    config = RunConfig(model=ModelConfig(vocab_size=10))
    return Outcome(nn.Identity(), config, [], [], {"loss": loss})


def test_a_model_that_has_exploded_counts_as_an_even_guess() -> None:
    assert final_loss(ended(1.5)) == 1.5
    for loss in (1000.0, float("inf"), float("nan")):
        assert final_loss(ended(loss)) == log(10)


@pytest.mark.slow
def test_gradients_and_streams_have_a_number_for_each_layer() -> None:
    material = letters(LessonSetup(effort=0.01))
    for order in ("pre", "post"):
        gradients = first_gradients(material, 0, 3, order)
        assert len(gradients) == 3 and min(gradients) > 0.0
    changes: dict[str, Any] = {"model.norm_order": "post"}
    sizes = stream_sizes(material, train_letters(material, 0, 2, 1, changes))
    assert len(sizes) == 3
    assert sizes[-1] == pytest.approx(1.0, abs=0.05)  # the last thing that post-norm does is a norm
