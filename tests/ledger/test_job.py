from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.config.values import Choice
from glassformer.errors import ConfigError
from glassformer.ledger.costs import OPTIMIZER_STATES
from glassformer.ledger.job import Job, full_batch, sample_lengths
from glassformer.models.presets import PRESETS
from glassformer.training.optimizer import OPTIMIZERS, make_optimizer, state_tensors
from small_run import run_config, small_model


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"devices": 0}, "devices=0 is out of range; use 1 to 1000000"),
        ({"devices": 1.5}, "devices=1.5 is of the wrong type; use a whole number"),
        ({"batch": 0}, "batch=0 is out of range"),
        ({"accumulate": -1}, "accumulate=-1 is out of range"),
        ({"length": 0}, "length=0 is out of range"),
        ({"parallel": "zero"}, "parallel='zero' is unknown; use one of: ddp, fsdp"),
        ({"precision": "half"}, "precision='half' is unknown; use one of: mixed, pure"),
        ({"optimizer": "muon"}, "optimizer='muon' is unknown; use one of: adamw"),
        ({"checkpointing": "some"}, "checkpointing='some' is unknown; use one of: none, selective, full"),
        ({"dtype": "int4"}, "dtype='int4' is unknown; use one of: bfloat16"),
        ({"causal": "circle"}, "causal='circle' is unknown; use one of: square, triangle"),
        ({"no_sync": 1}, "no_sync=1 is of the wrong type; use true or false"),
    ],
)
def test_a_job_that_cannot_be_is_refused(keys: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        Job(**keys)


def test_lengths() -> None:
    assert sample_lengths(PRESETS["gpt2"](), Job()) == (1024, 1024)
    assert sample_lengths(PRESETS["llama3-405b"](), Job()) == (2048, 2048)
    assert sample_lengths(PRESETS["paper-base"](), Job(length=7, target_length=5)) == (7, 5)
    assert sample_lengths(PRESETS["vit-b16"](), Job())[0] == 197
    with pytest.raises(ConfigError, match="the text has 1025 positions, and max_len=1024"):
        sample_lengths(PRESETS["gpt2"](), Job(length=1025))


def test_a_row_without_padding_is_filled_by_the_longest_examples_that_divide_it() -> None:
    config = run_config({"max_len": 256}, batch_tokens=4096)
    job = full_batch(config, 4096 + 64)
    assert (job.batch, job.length) == (20, 208)
    assert full_batch(config).batch * (full_batch(config).length or 0) == 4096


def test_the_loss_has_two_forms() -> None:
    with pytest.raises(ConfigError, match="loss='half'"):
        Job(loss="half")


def test_widths() -> None:
    assert (Job(dtype="bfloat16").width, Job(dtype="bfloat16").state_width) == (2, 4)
    assert (Job(dtype="bfloat16", precision="pure").state_width, Job(dtype="tf32").width) == (2, 4)
    assert not Job(dtype="float32").is_mixed
    assert (Job(devices=8).shards, Job(devices=8, parallel="ddp").shards) == (8, 1)


RECIPES = [*map(Choice, OPTIMIZERS), Choice("sgd", {"momentum": 0.0})]


@pytest.mark.parametrize("chosen", RECIPES, ids=lambda chosen: f"{chosen.kind} {dict(chosen.options)}")
def test_the_state_of_a_recipes_optimiser_is_what_it_keeps(chosen: Choice) -> None:
    """By default sgd has momentum, and with it a number for each parameter."""
    config = run_config(optimizer=chosen)
    model = small_model(config)
    optimizer = make_optimizer(model, config.train)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    kept = sum(each.numel() for each in state_tensors(optimizer, model).values() if each.dim())  # counters apart
    whole = sum(parameter.numel() for parameter in model.parameters())
    assert kept == OPTIMIZER_STATES[full_batch(config).optimizer] * whole
