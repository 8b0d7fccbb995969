from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from glassformer.config.values import Choice
from glassformer.data.pictures import apart, read_digits
from glassformer.errors import ConfigError, InputError
from glassformer.ledger.parameters import count
from glassformer.loading import load, resize
from glassformer.tasks.classification.evaluation import ClassificationEvaluation
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.image_classification.recognise import recognise
from glassformer.tasks.image_classification.rollout import patch_heat
from glassformer.tasks.image_classification.task import ImageClassification, corpus_of
from glassformer.trace.edit import edit, zero
from glassformer.trace.record import record
from small_recogniser import trained


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return trained(tmp_path)


def test_a_split_is_scored(run: Path) -> None:
    seen: list[tuple[int, int]] = []
    found = evaluate(run, "test", progress=lambda done, total: seen.append((done, total)))
    assert isinstance(found, ClassificationEvaluation) and found.unit == "images" and found.readings == 1
    assert found.total.examples == len(apart(read_digits(), 360, 0)[1]) == seen[-1][0]
    assert found.total.accuracy.value > 0.8 and found.total.majority < 0.12
    assert found.total.confusion.trace() == found.total.accuracy.hits
    said = np.array(found.hypotheses["test"])
    assert (said == np.array(corpus_of(load(run).config).test["test"].labels)).sum() == found.total.accuracy.hits
    table = found.to_json()
    assert json.loads(json.dumps(table))["examples"] == found.total.examples and len(table["labels"]) == 10
    assert "images" in repr(found) and "nats per image" in repr(found)


def test_it_is_what_validation_saw_while_training(run: Path) -> None:
    found = evaluate(load(run, checkpoint="last"), "validation")
    last = [line for line in (json.loads(text) for text in (run / "log.jsonl").read_text().splitlines())
            if "accuracy" in line][-1]  # fmt: skip
    assert found.total.accuracy.value == pytest.approx(last["accuracy"])
    assert found.total.loss == pytest.approx(last["loss"], rel=1e-5)


def test_what_cannot_be_evaluated(run: Path) -> None:
    with pytest.raises(ConfigError, match="forensics compares conventions of BLEU"):
        evaluate(run, forensics=True)
    loaded = load(run)
    source = Choice("digits", {"test": 0})
    none = replace(loaded, config=replace(loaded.config, data=replace(loaded.config.data, source=source)))
    with pytest.raises(InputError, match=r"the split 'test' of .* holds no examples"):
        evaluate(none, "test")


def test_a_file_is_recognised_as_in_the_data(run: Path, tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image")
    loaded = load(run)
    some = corpus_of(loaded.config).test["test"].chosen(range(5))
    for i, image in enumerate(some.pixels):
        image_module.fromarray(image[0]).save(tmp_path / f"{i}.png")
    files = [tmp_path / f"{i}.png" for i in range(5)]
    task = ImageClassification.make(loaded.config)
    batch = task.collate([task.encode(some, loaded.config)[i] for i in range(5)])
    with torch.no_grad():
        shares = loaded.model(batch.inputs).softmax(1)
    for one, row in zip(recognise(loaded, files), shares.tolist(), strict=True):
        assert [one.probabilities[str(i)] for i in range(10)] == pytest.approx(row, abs=1e-5)
    assert patch_heat(loaded, files[0]).shape == (2, 2)


def test_it_is_counted_recorded_and_edited_like_any_model(run: Path) -> None:
    loaded = load(run)
    assert count("digits", loaded.config.model).total.parameters == sum(p.numel() for p in loaded.model.parameters())
    images = torch.rand(2, 1, 8, 8)
    with torch.no_grad(), record(loaded.model) as trace:
        plain = loaded.model(images)
    assert trace["encoder.blocks.0.self_attention.weights"].shape == (2, 4, 5, 5)
    with torch.no_grad(), edit(loaded.model, {"encoder.blocks.0.self_attention.heads": zero(head=0)}):
        assert not torch.equal(loaded.model(images), plain)


def test_enlarged_digits_are_recognised_without_further_training(run: Path) -> None:
    loaded = load(run)
    larger = resize(loaded, 16, patch=8)
    plain, found = evaluate(loaded, "test").total.accuracy.value, evaluate(larger, "test").total.accuracy.value
    assert larger.config.model.input.options["size"] == 16 and found > plain - 0.03
