from __future__ import annotations

from pathlib import Path

import pytest
import torch

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.lessons.experiment import BOXES, Experiment
from glassformer.loading import open_recipe
from glassformer.models.build import build
from small_translator import write_recipe


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    recipe: Path = write_recipe(tmp_path_factory.mktemp("short"), steps=6)
    return Experiment(str(recipe))


@pytest.mark.slow
def test_it_learns_and_is_judged(experiment: Experiment) -> None:
    found = experiment.train(0, {"train.steps": 60})
    assert len(found.losses) == len(found.gradient_norms) == 60
    assert found.losses[-1] < 0.5 * found.losses[0]
    assert found.validation["loss"] < found.losses[0] and not found.diverged
    assert not found.model.training


def test_the_same_seed_gives_the_same_numbers(experiment: Experiment) -> None:
    first, again, other = (experiment.train(seed, validated=False) for seed in (0, 0, 1))
    assert first.losses == again.losses != other.losses
    assert first.validation == {}


def test_a_change_is_a_change_of_the_model(experiment: Experiment) -> None:
    found = experiment.train(0, {"model.norm_order": "post"}, validated=False)
    assert found.config.model.norm_order == "post"
    assert experiment.material.config.model.norm_order == "pre"


def test_a_model_of_ones_own(experiment: Experiment) -> None:
    made = build(experiment.config({}, 3).model, seed=9)
    found = experiment.train(0, make=lambda config: made, validated=False)
    assert found.model is made


def test_a_loss_that_is_not_finite_is_seen(experiment: Experiment) -> None:
    model = build(experiment.config({}, 0).model, seed=0)
    with torch.no_grad():
        next(model.parameters()).fill_(float("inf"))
    assert experiment.train(0, {"train.steps": 2}, make=lambda config: model, validated=False).diverged


@pytest.mark.parametrize("recipe", BOXES)
def test_experiments_start_from_the_papers_boxes(recipe: str) -> None:
    """Whatever family a recipe takes so that its model can leave, a lesson compares with the paper's parts."""
    model = open_recipe(recipe, BOXES[recipe]).model
    plain = ModelConfig()
    assert (model.norm, model.feed_forward, model.activation) == (plain.norm, plain.feed_forward, plain.activation)
    assert (model.embedding_norm, model.embedding_scale, model.bias) == (False, True, plain.bias)
    assert (model.norm_order, model.segments) == ("pre", 0)
    assert model.position == (Choice("rotary") if recipe == "characters" else plain.position)
