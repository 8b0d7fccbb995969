from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.data.store import Store
from glassformer.errors import ConfigError, InputError
from glassformer.loading import load, open_recipe
from glassformer.losses import Sum, cross_entropy
from glassformer.models.build import build
from glassformer.runs import Run
from glassformer.tasks.classification.task import Classification
from glassformer.text import Frame
from glassformer.training.begin import begin
from glassformer.training.loop import train
from small_classifier import REVIEWS, write_recipe, write_tsv
from tiny_tasks import tiny


def config(folder: Path, **keys: Any) -> RunConfig:
    return open_recipe(write_recipe(folder, **keys))


def test_what_only_the_data_can_tell_is_filled_in(tmp_path: Path) -> None:
    made = Classification.begin(config(tmp_path))
    assert made.config.model.head == Choice("classifier", {"pool": "cls", "classes": 2})
    assert made.config.task == Choice("classification", {"labels": ["bad", "good"]})
    assert made.config.model.vocab_size == made.vocabularies.source.vocab_size == 20
    assert [made.training[i][1].tolist() for i in range(4)] == [[1], [0], [0], [1]]
    assert RunConfig.from_dict(made.config.to_dict()) == made.config


def test_labels_and_vocabulary_come_from_the_training_part_alone(tmp_path: Path) -> None:
    new = write_tsv(tmp_path / "new.tsv", [("처음 보는 말", "good")])
    made = Classification.begin(config(tmp_path, validation=new))
    assert made.validation is not None
    unknown = made.vocabularies.source.specials.need("unk")
    assert made.validation[0][0].tolist() == [unknown] * 3
    strange = write_tsv(tmp_path / "strange.tsv", [("영화 좋다", "good"), ("영화 나쁘다", "awful")])
    with pytest.raises(InputError, match="the label 'awful' of text 2 in the part 'validation' is not among those"):
        Classification.begin(config(tmp_path, validation=strange))


def test_the_same_again_from_a_run(tmp_path: Path) -> None:
    made = Classification.begin(config(tmp_path))
    run = Run.create(tmp_path / "run", made.config, fill=made.fill)
    found = Classification.again(run)
    assert (found.config, found.training.fingerprint) == (made.config, made.training.fingerprint)
    assert found.task.labels == made.task.labels == ("bad", "good")


def test_a_text_is_framed_and_cut(tmp_path: Path) -> None:
    made = Classification.begin(config(tmp_path, changes={"data": {"max_length": 2}}))
    assert made.training.lengths[:, 0].max() == 2
    special = made.vocabularies.source.specials
    batch = made.task.collate([made.training[i] for i in (0, 2)])
    assert batch.tokens[:, 0].tolist() == [special.cls] * 2
    assert batch.tokens[:, -1].tolist() == [special.sep] * 2
    assert made.task.extra_tokens == 2
    assert (batch.targets.tolist(), batch.count) == ([1, 0], 2)


@pytest.mark.many
@pytest.mark.parametrize("pool", ["cls", "sep", "mean", "max"])
@pytest.mark.parametrize("loss", ["cross_entropy", "focal", "binary_cross_entropy"])
def test_every_pool_with_every_loss_learns(pool: str, loss: str, tmp_path: Path) -> None:
    changes = {"model": {"head": {"kind": "classifier", "pool": pool}}, "train": {"loss": loss}}
    job = begin(config(tmp_path, steps=60, changes=changes), tmp_path / "run")
    classes = job.recipe.model.head.options["classes"]
    assert classes == (1 if loss == "binary_cross_entropy" else 2)
    for _ in train(job):
        pass
    evaluations = [line for line in job.run.log.read() if line["kind"] == "evaluation"]
    assert evaluations[-1]["accuracy"] == evaluations[-1]["f1"] == 1.0
    loaded = load(tmp_path / "run")
    assert loaded.labels == ["bad", "good"] and loaded.task == "classification"


def test_a_decoder_classifies_by_its_last_token(tmp_path: Path) -> None:
    head = {"family": "decoder", "n_encoder_layers": 0, "n_decoder_layers": 1}
    changes = {"model": {**head, "head": {"kind": "classifier", "pool": "sep"}}}
    job = begin(config(tmp_path, steps=60, changes=changes), tmp_path / "run")
    for _ in train(job):
        pass
    assert [line["accuracy"] for line in job.run.log.read() if line["kind"] == "evaluation"][-1] == 1.0


def example() -> tuple[Classification, Store]:
    task = Classification(labels=("a", "b", "c"), pad=0, frame=Frame(begin=4))
    return task, Store.of({"text": [[7, 8], [9], [7, 9, 8]], "label": [[0], [2], [1]]})


def test_scores_and_metrics_by_hand() -> None:
    task, store = example()
    logits = torch.tensor([[3.0, 0, 0], [0, 3.0, 0], [0, 3.0, 0]])

    class Said(torch.nn.Module):
        def forward(self, tokens: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
            return logits

    scores = task.scores(Said(), task.collate([store[i] for i in range(3)]))
    assert scores["confusion"].total.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    torch.testing.assert_close(scores["loss"].total, cross_entropy(logits, torch.tensor([0, 2, 1])).total)
    metrics = task.metrics(scores)
    assert metrics["accuracy"] == pytest.approx(2 / 3)
    assert metrics["f1"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert list(metrics) == ["loss", "accuracy", "f1"]


def test_one_logit_stands_for_two() -> None:
    task = Classification(labels=("a", "b"), pad=0)
    model = torch.nn.Module()
    model.forward = lambda tokens, mask: torch.tensor([[2.0], [-1.0]])  # type: ignore[method-assign]
    batch = task.collate([(np.array([5]), np.array([1])), (np.array([6]), np.array([1]))])
    assert task.logits(model, batch).tolist() == [[0.0, 2.0], [0.0, -1.0]]
    assert task.scores(model, batch)["confusion"].total.tolist() == [[0, 0], [1, 1]]


def test_what_is_padded_does_not_matter() -> None:
    made = Classification.begin(tiny("classification"))
    model = build(made.config.model, seed=0).double()
    some = [made.training[i] for i in range(8)]
    narrow, wide = made.task.collate(some), replace(made.task, pad_to=16).collate(some)
    assert wide.tokens.shape[1] > narrow.tokens.shape[1]
    torch.testing.assert_close(
        made.task.loss(model, narrow).total, made.task.loss(model, wide).total, rtol=0, atol=1e-10
    )


def test_an_empty_text_is_a_frame_and_without_a_frame_still_no_nan() -> None:
    for frame in (Frame(), Frame(4, 5)):
        made = tiny("classification")
        model = build(Classification.sketch(made).model, seed=0)
        task = Classification(labels=("a", "b"), pad=0, frame=frame)
        batch = task.collate([(np.zeros(0, np.int32), np.array([1])), (np.array([7, 8]), np.array([0]))])
        assert torch.isfinite(task.loss(model, batch).total)


def test_rare_classes_weigh_more(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv", [*REVIEWS[:1], *REVIEWS[1:3], *REVIEWS[5:7]])
    named = {"run": {"task": {"kind": "classification", "weights": "balanced"}}, "text": {"vocab_size": 11}}
    made = Classification.begin(config(tmp_path, train=path, validation=path, changes=named))
    logits = torch.zeros(2, 2)
    one = [float(made.task.criterion(logits[:1], torch.tensor([i])).total) for i in (0, 1)]
    assert one == pytest.approx([np.log(2) * 5 / 8, np.log(2) * 5 / 2])
    plain = Classification.make(made.config, made.vocabularies)
    assert float(plain.criterion(logits, torch.tensor([0, 1])).mean) == pytest.approx(np.log(2))


def test_another_loss_is_another_task() -> None:
    task, _ = example()
    nothing = lambda logits, targets: Sum(logits.sum() * 0, torch.tensor(1))  # noqa: E731
    assert task.with_loss(nothing).criterion is nothing and task.criterion is cross_entropy


HEAD = {"kind": "classifier", "pool": "mean"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": {"head": "none"}}, "the task 'classification' needs an encoder or a decoder with head = { kind = "),
        ({"model": {"family": "encoder-decoder", "n_decoder_layers": 1}}, "the task 'classification' needs an encoder"),
        ({"model": {"head": {"kind": "classifier", "pool": "flatten"}}}, "head.pool='flatten' is unknown; use one of"),
        ({"train": {"loss": "mse"}}, "the task 'classification' cannot be learned with the loss 'mse'; use one of"),
        (
            {"run": {"task": {"kind": "classification", "label": "x"}}},
            "task.label: 'classification' has no such option",
        ),
        ({"run": {"task": {"kind": "classification", "labels": "x"}}}, "task.labels='x' is of the wrong type"),
    ],
)
def test_a_recipe_that_is_none_is_refused_before_anything_is_read(
    changes: dict[str, dict[str, Any]], message: str, tmp_path: Path
) -> None:
    recipe = config(tmp_path, changes=changes)
    with pytest.raises(ConfigError) as caught:
        begin(replace(recipe, data=replace(recipe.data, source=Choice("files", {"train": "absent"}))), tmp_path / "run")
    assert str(caught.value).startswith(message)
    assert not (tmp_path / "run").exists()


THREE = [*REVIEWS[:2], ("영화", "neutral")]


@pytest.mark.parametrize(
    ("rows", "changes", "message"),
    [
        (THREE, {"train": {"loss": "binary_cross_entropy"}}, "tells two labels apart with one logit, and there are 3"),
        (THREE, {"model": {"head": {**HEAD, "classes": 2}}}, r"head\.classes=2, and .* needs 3 \(bad, good, neutral\)"),
        (REVIEWS[:1], {}, r"the training set has one label only \(good\)"),
    ],
)
def test_data_that_does_not_fit_the_recipe(
    rows: list[tuple[str, str]], changes: dict[str, dict[str, Any]], message: str, tmp_path: Path
) -> None:
    path = write_tsv(tmp_path / "a.tsv", rows)
    with pytest.raises((ConfigError, InputError), match=message):
        Classification.begin(config(tmp_path, train=path, changes=changes))
