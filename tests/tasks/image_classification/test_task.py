from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glassformer.config.recipe import RunConfig
from glassformer.data.augment import Augmentation
from glassformer.data.pictures import Pictures
from glassformer.errors import ConfigError, InputError
from glassformer.losses import Sum, cross_entropy
from glassformer.models.build import build
from glassformer.tasks.image_classification.task import ImageClassification, read_augmentation, statistics
from picture_files import folder
from tiny_tasks import TINY, tiny

NAME = "image_classification"


def recipe(**task: Any) -> RunConfig:
    return tiny(NAME, run={"name": "tiny", "task": {"kind": NAME, **task}})


def from_folder(path: Path, **source: Any) -> RunConfig:
    patches = {"kind": "image", "size": 4, "patch": 2, "channels": 3}
    return tiny(
        NAME,
        run={"name": "tiny", "task": NAME},
        data={"source": {"kind": "folder", "train": str(path), **source}, "validation": 0},
        model={"input": patches},
    )


def test_what_is_learned_stands_in_the_configuration() -> None:
    made = ImageClassification.begin(recipe())
    options = made.config.task.options
    assert options["labels"] == [str(i) for i in range(10)] and made.config.model.head.options["classes"] == 10
    pixels = made.training.fields["image"] / 255
    assert options["mean"] == pytest.approx([pixels.mean()]) and options["std"] == pytest.approx([pixels.std()])
    batch = made.task.collate([made.training[i] for i in range(len(made.training))])
    assert abs(float(batch.inputs.mean())) < 1e-4 and float(batch.inputs.std()) == pytest.approx(1, abs=1e-3)


def test_statistics_and_names_of_the_recipe_are_kept() -> None:
    names = [f"digit {i}" for i in range(10)]
    made = ImageClassification.begin(recipe(mean=[0.5], std=[0.25], labels=names))
    assert made.config.task.options["mean"] == [0.5] and made.task.labels == tuple(names)
    image, label = made.training[0]
    batch = made.task.collate([made.training[0]])
    assert torch.equal(batch.targets, torch.tensor([int(label)]))
    np.testing.assert_allclose(batch.inputs[0], (image / 255 - 0.5) / 0.25, rtol=1e-5, atol=1e-6)


def test_nothing_is_left_to_chance_in_validation() -> None:
    made = ImageClassification.begin(recipe(crop=1, flip=0.5, erase=0.5, mixup=0.2))
    some = [made.training[i] for i in range(16)]
    one, other = made.task.collate(some), made.task.collate(some)
    assert torch.equal(one.inputs, other.inputs) and one.targets.dtype == torch.int64


def test_a_training_batch_depends_on_its_generator_alone() -> None:
    made = ImageClassification.begin(recipe(crop=1, flip=0.5, erase=0.5, mixup=0.2))
    some = [made.training[i] for i in range(16)]
    one, other, third = (made.task.collate(some, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert torch.equal(one.inputs, other.inputs) and torch.equal(one.targets, other.targets)
    assert not torch.equal(one.inputs, third.inputs)
    assert one.targets.shape == (16, 10) and torch.allclose(one.targets.sum(1), torch.ones(16)) and one.count == 16


def test_without_mixup_a_target_is_a_class() -> None:
    made = ImageClassification.begin(recipe(flip=0.5))
    batch = made.task.collate([made.training[i] for i in range(4)], np.random.default_rng(0))
    assert batch.targets.tolist() == [int(made.training[i][1]) for i in range(4)]


def test_scores_by_hand() -> None:
    task = ImageClassification(labels=("a", "b"), mean=np.zeros((1, 1, 1)), std=np.ones((1, 1, 1)))  # type: ignore[arg-type]
    matrix = torch.tensor([[3.0, 1.0], [0.0, 4.0]], dtype=torch.float64)
    sums = {"loss": Sum(torch.tensor(4.0), torch.tensor(8)), "confusion": Sum(matrix, torch.tensor(8))}
    found = task.metrics(sums)
    assert found == {"loss": 0.5, "accuracy": 0.875, "f1": pytest.approx((6 / 7 + 8 / 9) / 2)}


def test_scores_are_those_of_the_model() -> None:
    made = ImageClassification.begin(recipe())
    model = build(made.config.model, seed=0).eval()
    batch = made.task.collate([made.training[i] for i in range(20)])
    with torch.no_grad():
        scores, logits = made.task.scores(model, batch), model(batch.inputs)
    assert scores["loss"].total.item() == pytest.approx(cross_entropy(logits, batch.targets).total.item())
    assert int(scores["confusion"].total.trace()) == int((logits.argmax(1) == batch.targets).sum())
    assert scores["confusion"].total.sum() == 20


def test_what_augmentation_says() -> None:
    assert read_augmentation(recipe()) == Augmentation()
    assert read_augmentation(recipe(crop=2, flip=0.5, erase=0.1, mixup=1)) == Augmentation(
        crop=2, flip=0.5, erase=0.1, mixup=1.0
    )


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"crop": 9}, r"task\.crop=9"),
        ({"flip": 1.5}, r"task\.flip=1\.5"),
        ({"mixup": -1}, r"task\.mixup=-1"),
        ({"mixup": False}, r"task\.mixup=False"),
        ({"mean": [0.1, 0.2]}, r"task\.mean=\[0\.1, 0\.2\] is not one number per channel"),
        ({"labels": ["a", "a"]}, r"task\.labels=.* a list of different names"),
        ({"resample": "sinc"}, r"task\.resample='sinc' is unknown"),
        ({"crops": 1}, r"crops"),
    ],
)
def test_options_that_do_not_fit(task: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ImageClassification.sketch(recipe(**task))


def test_models_and_losses_that_do_not_fit() -> None:
    with pytest.raises(
        ConfigError, match="needs family=encoder, input=image and head=classifier, here family='encoder'"
    ):
        ImageClassification.sketch(tiny(NAME, model={"head": "none"}))
    with pytest.raises(ConfigError, match=r"task\.mixup makes targets of several classes, which the loss 'focal'"):
        ImageClassification.sketch(tiny(NAME, train={"loss": "focal"}))
    with pytest.raises(ConfigError, match="cannot be learned with the loss 'mse'"):
        ImageClassification.sketch(tiny(NAME, train={"loss": "mse"}))
    with pytest.raises(ConfigError, match=r"head\.classes=7, and the training images have 10 classes"):
        head = {**TINY[NAME]["model"]["head"], "classes": 7}
        ImageClassification.begin(tiny(NAME, model={"head": head}))


def test_images_of_ones_own(tmp_path: Path) -> None:
    made = ImageClassification.begin(from_folder(folder(tmp_path / "train")))
    assert made.task.labels == ("cats", "dogs") and made.validation is None and len(made.training) == 4
    assert made.training.fields["label"].tolist() == [0, 0, 1, 1]


def test_one_class_only_and_a_class_that_was_never_seen(tmp_path: Path) -> None:
    train = folder(tmp_path / "train")
    other = folder(tmp_path / "other")
    (other / "dogs").rename(other / "horses")
    with pytest.raises(InputError, match=r"other holds images of the class 'horses', which is not among those learned"):
        ImageClassification.begin(from_folder(train, validation=str(other)))
    (train / "dogs").rename(tmp_path / "dogs")
    with pytest.raises(InputError, match=r"have one class only \(cats\), and there is nothing to tell apart"):
        ImageClassification.begin(from_folder(train))


def test_images_without_anything_to_see() -> None:
    with pytest.raises(InputError, match="channel 2 of all training images of here has one value only"):
        pixels = np.zeros((4, 2, 3, 3), dtype=np.uint8)
        pixels[0, 0, 0, 0] = 9
        statistics(Pictures(pixels, ["a", "b", "a", "b"], "here"))
