from __future__ import annotations

import pytest

from glassformer.lessons.experiment import Experiment
from glassformer.lessons.feed_forward.feed_forward_widths import RECIPE, TIMES, VARIANTS, at_budget, size
from glassformer.models.build import build


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return Experiment("characters", {**RECIPE, "data.source.count": 200, "data.validation": 10})


@pytest.mark.slow
def test_every_width_has_the_same_parameters(experiment: Experiment) -> None:
    budget = size(experiment, {})
    for times in TIMES:
        changes = at_budget(experiment, times, budget)
        model = build(experiment.config(changes, 0).model)
        assert sum(parameter.numel() for parameter in model.parameters()) == pytest.approx(budget, rel=0.003)
        assert changes["model.d_ff"] / changes["model.d_model"] == pytest.approx(times, rel=0.1)


def test_every_kind_has_the_same_parameters(experiment: Experiment) -> None:
    budget = size(experiment, {})
    assert all(size(experiment, changes) == pytest.approx(budget, rel=0.003) for changes in VARIANTS.values())
