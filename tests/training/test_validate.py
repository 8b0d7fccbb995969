from __future__ import annotations

import math

import pytest
import torch

from glassformer.losses import cross_entropy
from glassformer.training.parallel import Spread
from glassformer.training.validate import make_sampler, validate
from small_run import examples, run_config, small_model, translation

CPU = torch.device("cpu")


@pytest.mark.parametrize("batch_tokens", [12, 100, 10_000])
def test_the_mean_is_over_tokens_whatever_the_batches(batch_tokens: int) -> None:
    config = run_config(batch_tokens=batch_tokens)
    model, store = small_model(config).double(), examples(30)
    task = translation(config)
    found = validate(Spread.on_one(model, task), task, store, config.train, CPU)
    model.eval()
    whole = task.collate([store[i] for i in range(30)])
    assert whole.target_in is not None
    logits = model(whole.source, whole.target_in, whole.source_mask)
    expected = cross_entropy(logits, whole.target_out).mean.item()
    assert found["loss"] == pytest.approx(expected, rel=1e-12)
    assert found["perplexity"] == pytest.approx(math.exp(expected), rel=1e-12)
    assert 0.0 <= found["accuracy"] <= 1.0


def test_the_model_goes_on_as_it_was() -> None:
    config = run_config()
    model, task = small_model(config), translation(config)
    for training in (True, False):
        model.train(training)
        validate(Spread.on_one(model, task), task, examples(5), config.train, CPU)
        assert model.training == training
    assert all(p.grad is None for p in model.parameters())


def test_what_a_batch_adds_to_an_example_counts() -> None:
    config = run_config(batch_tokens=24, pad_to=4)
    task, store = translation(config, pad_to=4), examples(30)
    for indexes in make_sampler(store, task, config.train).in_order():
        batch = task.collate([store[i] for i in indexes])
        assert batch.source.numel() <= 24 and batch.target_out.numel() <= 24
