from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from glassformer.config.values import Choice
from glassformer.data.picture import read_picture
from glassformer.errors import ConfigError, FileError, InputError
from glassformer.tasks.image_classification.recognise import recognise, seen
from small_models import LABELS, small


def images(folder: Path, count: int = 3) -> list[Path]:
    noise = np.random.default_rng(1)
    paths = [folder / f"{number}.png" for number in range(count)]
    for path in paths:
        Image.fromarray(noise.integers(0, 256, (20, 30, 3), dtype=np.uint8)).save(path)
    return paths


def test_each_image_gets_what_the_model_says_of_it(tmp_path: Path) -> None:
    loaded, paths = small("image_classification"), images(tmp_path, 18)  # more than are seen at once
    found = recognise(loaded, paths)
    assert [one.input for one in found] == [str(path) for path in paths]
    with torch.no_grad():
        shares = loaded.model(seen(loaded, paths)).softmax(1)
    for one, row in zip(found, shares.tolist(), strict=True):
        assert [one.probabilities[label] for label in LABELS] == pytest.approx(row, abs=1e-6)
    assert recognise(loaded, paths[0]) == recognise(loaded, [str(paths[0])])
    assert recognise(loaded, []) == []


def test_pixels_are_normalised_as_the_task_says(tmp_path: Path) -> None:
    paths = images(tmp_path)
    plain = seen(small("image_classification"), paths)
    options = {"labels": LABELS, "mean": [0.5, 0.4, 0.3], "std": [0.5, 0.25, 1]}
    found = seen(small("image_classification", options=options), paths)
    for channel, (mean, std) in enumerate([(0.5, 0.5), (0.4, 0.25), (0.3, 1)]):
        torch.testing.assert_close(found[:, channel], (plain[:, channel] - mean) / std)
    assert plain.min() >= 0 and plain.max() <= 1


def test_a_grey_model_and_a_small_type(tmp_path: Path) -> None:
    patches = Choice("image", {"size": 8, "patch": 4, "channels": 1})
    loaded = small("image_classification", input=patches, options={"mean": 0.5, "std": [0.5]})
    loaded.model.bfloat16()
    pixels = seen(loaded, images(tmp_path))
    assert pixels.shape == (3, 1, 8, 8) and pixels.dtype == torch.bfloat16
    assert set(recognise(loaded, images(tmp_path))[0].probabilities) == {"0", "1", "2"}


@pytest.mark.parametrize(
    ("key", "value"),
    [("mean", [0.5]), ("mean", [0.5, 0.5, True]), ("std", [1, 1, 0]), ("std", "one"), ("mean", [1, 2, float("nan")])],
)
def test_statistics_that_do_not_fit(key: str, value: Any, tmp_path: Path) -> None:
    loaded = small("image_classification", options={key: value})
    with pytest.raises(ConfigError, match=rf"task\.{key}=.* is not one number per channel \(3 in all\)"):
        recognise(loaded, images(tmp_path))


def test_what_cannot_be_recognised(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"none\.png"):
        recognise(small("image_classification"), tmp_path / "none.png")
    with pytest.raises(InputError, match="and cannot recognise; use glassformer classify"):
        recognise(small("classification"), images(tmp_path))


@pytest.mark.parametrize("resample", ["bilinear", "bicubic"])
def test_the_same_pixels_as_in_transformers(resample: str, tmp_path: Path) -> None:
    processors = pytest.importorskip("transformers.models.vit.image_processing_pil_vit")
    mean, std = [0.5, 0.4, 0.3], [0.5, 0.25, 0.2]
    processor = processors.ViTImageProcessorPil(
        size={"height": 8, "width": 8}, image_mean=mean, image_std=std, resample=2 if resample == "bilinear" else 3
    )
    paths = images(tmp_path)
    expected = processor([Image.open(path) for path in paths], return_tensors="pt")["pixel_values"]
    options = {"mean": mean, "std": std, "resample": resample}
    torch.testing.assert_close(seen(small("image_classification", options=options), paths), expected)


def test_the_middle_of_an_enlarged_image(tmp_path: Path) -> None:
    path = images(tmp_path, 1)
    loaded = small("image_classification", options={"labels": LABELS, "enlarge": 12})
    size = int(loaded.config.model.input.options["size"])
    whole = read_picture(path[0], size=12, channels=3)
    first = (12 - size) // 2
    expected = whole[:, first : first + size, first : first + size]
    assert torch.equal(seen(loaded, path)[0], expected) and size < 12


@pytest.mark.parametrize("given", [None, 5, [5], b"a", [None]])
def test_what_is_no_path_is_refused_as_one(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"^images=.* is of the wrong type; use a path"):
        recognise(small("image_classification"), given)
