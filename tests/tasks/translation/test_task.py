from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.data.batch import PairBatch
from glassformer.data.prepared import every_prepared
from glassformer.data.store import Store
from glassformer.errors import ConfigError
from glassformer.losses import IGNORE, Sum, cross_entropy, focal, make_loss
from glassformer.models.build import build
from glassformer.runs import Run
from glassformer.tasks import kind_of
from glassformer.tasks.translation.task import Translation
from glassformer.text import Frame, Vocabularies
from glassformer.training import train
from glassformer.training.begin import again, begin
from small_run import examples, model_config, run_config, small_model, translation
from stored_pairs import as_large, translating, write_corpus


def batch(count: int = 8, **keys: Any) -> PairBatch:
    store = examples(count)
    return translation(run_config(), **keys).collate([store[i] for i in range(count)])


def test_the_loss_is_that_of_the_logits() -> None:
    config = run_config({"dropout": 0.0})
    model, one = small_model(config), batch()
    assert one.target_in is not None
    logits = model(one.source, one.target_in, one.source_mask)
    found = translation(config).loss(model, one)
    torch.testing.assert_close(found.total, cross_entropy(logits, one.target_out, smoothing=0.1).total)
    assert int(found.count) == one.count


HEADS: dict[str, dict[str, Any]] = {
    "tied": {},
    "untied": {"tie_embeddings": "none"},
    "biased": {"head": Choice("language_model", {"bias": True})},
    "transformed": {"head": Choice("language_model", {"bias": True, "transform": True, "scale": True})},
    "two vocabularies": {"tie_embeddings": "output", "target_vocab_size": 30},
    "two vocabularies, untied": {"tie_embeddings": "none", "target_vocab_size": 30},
}


def gradients(config: ModelConfig, chunk: int, one: PairBatch) -> tuple[Sum, dict[str, Tensor]]:
    model = build(config, seed=0).double()
    task = Translation(
        pad=0,
        source=Frame(end=2),
        target=Frame(1, 2),
        criterion=make_loss("cross_entropy", {"smoothing": 0.1}),
        chunk=chunk,
    )
    loss = task.loss(model, one)
    (loss.total / one.count).backward()
    return loss, {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("head", HEADS)
def test_chunks_give_the_same_gradients_for_every_head(head: str) -> None:
    config, one = model_config(dropout=0.0, **HEADS[head]), batch()
    whole, expected = gradients(config, 0, one)
    parts, found = gradients(config, 7, one)
    torch.testing.assert_close(parts.total, whole.total, rtol=0, atol=1e-12)
    assert int(parts.count) == int(whole.count)
    assert list(found) == list(expected) == list(dict(build(config).named_parameters()))
    for name, slope in expected.items():
        torch.testing.assert_close(found[name], slope, rtol=0, atol=1e-12, msg=name)


def test_what_is_padded_does_not_matter() -> None:
    config = run_config({"dropout": 0.0})
    model = small_model(config).double()
    narrow, wide = batch(pad_to=1), batch(pad_to=16)
    assert wide.source.shape[1] > narrow.source.shape[1]
    task = translation(config)
    torch.testing.assert_close(task.loss(model, wide).total, task.loss(model, narrow).total, rtol=0, atol=1e-10)


def test_the_scores_are_without_smoothing() -> None:
    config = run_config({"dropout": 0.0})
    model, one = small_model(config).eval(), batch()
    assert one.target_in is not None
    scores = translation(config).scores(model, one)
    logits = model(one.source, one.target_in, one.source_mask)
    torch.testing.assert_close(scores["loss"].total, cross_entropy(logits, one.target_out).total)
    right = sum(int(a == b) for a, b in zip(logits.argmax(-1).flatten(), one.target_out.flatten(), strict=True))
    assert (int(scores["accuracy"].total), int(scores["accuracy"].count)) == (right, one.count)
    assert (one.target_out == IGNORE).any()


def test_the_first_loss_is_that_of_a_guess() -> None:
    """Under normal(0.02) an untrained model says every token with nearly the same probability: ln v, within 5 %."""
    for order in ("pre", "post"):
        for tie in ("all", "none"):
            config = run_config({"vocab_size": 2000, "d_model": 64, "norm_order": order, "tie_embeddings": tie})
            found = translation(config, criterion=cross_entropy).loss(small_model(config), batch())
            assert found.mean.item() == pytest.approx(math.log(2000), rel=0.05), (order, tie)


def vocabularies() -> Vocabularies:
    return Vocabularies.train("words", ["나는 간다"], ["I go"])


def test_a_task_of_a_recipe() -> None:
    config = replace(run_config(loss="focal", chunk=7, pad_to=4), task=Choice("translation", {"source_end": False}))
    task = Translation.make(config, vocabularies())
    assert (task.source, task.target, task.chunk, task.pad_to, task.pad) == (Frame(), Frame(1, 2), 7, 4, 0)
    assert Translation.make(run_config(), vocabularies()).collate([examples(1)[0]]).source[0, -1] == 2
    logits, targets = torch.randn(1, 3, 9), torch.tensor([[1, 2, 3]])
    assert torch.equal(task.criterion(logits, targets).total, focal(logits, targets, gamma=2.0).total)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Choice("transcription"), "task='transcription' is unknown; use one of: translation"),
        (
            Choice("translation", {"source_ends": True}),
            "task.source_ends: 'translation' has no such option; did you mean",
        ),
        (Choice("translation", {"source_end": 1}), "task.source_end=1 is of the wrong type; use true or false"),
    ],
)
def test_a_task_that_there_is_not(task: Choice, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        kind_of(config := replace(run_config(), task=task)).task.sketch(config)
    assert str(caught.value).startswith(message)


def test_a_loss_of_another_task_is_refused() -> None:
    with pytest.raises(ConfigError, match="the task 'translation' cannot be learned with the loss 'mse'; use one of"):
        Translation.sketch(run_config(loss="mse"))


def test_a_recipe_and_its_run_have_the_same_sketch() -> None:
    config = run_config()
    assert Translation.sketch(config) == Translation.sketch(config.with_vocabulary(77, 66))


def test_another_loss_is_another_task() -> None:
    task = translation(run_config())
    assert task.with_loss(cross_entropy).criterion is cross_entropy
    assert task.criterion is not cross_entropy


def test_a_model_of_another_family_is_refused() -> None:
    model = build(model_config(family="decoder", n_encoder_layers=None), seed=0)
    with pytest.raises(ConfigError, match="the task 'translation' needs a model of family='encoder-decoder'"):
        translation(run_config()).loss(model, batch())


@pytest.fixture
def one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})


CHANGES: list[dict[str, Any]] = [{}, {"limit": 60}, {"prepare": "lowercase", "validation": 0}, {"max_length": 20}]


@pytest.mark.usefixtures("own_cache", "one_core")
@pytest.mark.parametrize("data", CHANGES, ids=str)
def test_large_files_give_the_same_examples_as_small_ones(
    data: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = translating(write_corpus(tmp_path, 200), **data)
    before = Translation.begin(config)
    assert not every_prepared()
    as_large(monkeypatch)
    after = Translation.begin(config)
    assert {each.kind for each in every_prepared()} >= {"texts", "vocabulary", "seen", "tokens"}
    assert isinstance(after.training, Store) and isinstance(after.training.fields["source"].tokens, np.memmap)
    assert (after.config, after.seen) == (before.config, before.seen)
    assert list(after.validation_texts) == list(before.validation_texts)
    for one, other in ((before.training, after.training), (before.validation, after.validation)):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one.fingerprint == other.fingerprint
            assert all(np.array_equal(a, b) for i in range(len(one)) for a, b in zip(one[i], other[i], strict=True))


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache", "one_core")
def test_a_run_that_was_begun_in_memory_goes_on_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = translating(write_corpus(tmp_path, 200))
    losses = {}
    for name, large in (("small", False), ("large", True)):
        with monkeypatch.context() as patch:
            out = tmp_path / name
            for _ in train(begin(config, out)):
                pass
            if large:
                as_large(patch)
            job = again(out, {"train.steps": 4})
            assert isinstance(job.training, Store)
            assert isinstance(job.training.fields["source"].tokens, np.memmap) == large
            for _ in train(job, resume=True):
                pass
        losses[name] = [record["loss"] for record in Run.open(out).log.read() if record["kind"] == "train"]
    assert len(losses["small"]) == 4
    assert losses["small"] == losses["large"]


@pytest.mark.usefixtures("own_cache", "one_core")
def test_a_second_seed_learns_and_encodes_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_large(monkeypatch)
    config = translating(write_corpus(tmp_path, 200))
    first = Translation.begin(config)
    made = [each.path.stat().st_mtime_ns for each in every_prepared()]
    second = Translation.begin(replace(config, train=replace(config.train, seed=1)))
    assert [each.path.stat().st_mtime_ns for each in every_prepared()] == made
    assert first.training.fingerprint == second.training.fingerprint
