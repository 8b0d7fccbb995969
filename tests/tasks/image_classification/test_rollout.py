from __future__ import annotations

from pathlib import Path

import pytest
import torch
from PIL import Image

from glassformer.config.values import Choice
from glassformer.errors import FileError, InputError
from glassformer.tasks.image_classification.recognise import seen
from glassformer.tasks.image_classification.rollout import draw_rollout, patch_heat
from glassformer.trace.record import record
from glassformer.trace.rollout import rollout
from small_models import small


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "a.png"
    Image.radial_gradient("L").save(path)
    return path


def test_it_is_the_rollout_of_the_pass(image: Path) -> None:
    loaded = small("image_classification")
    with torch.no_grad(), record(loaded.model) as trace:
        loaded.model(seen(loaded, [image]))
    torch.testing.assert_close(patch_heat(loaded, image), rollout(trace)[0])


def test_a_model_that_takes_the_mean(image: Path) -> None:
    patches = Choice("image", {"size": 8, "patch": 2, "channels": 1, "class_tokens": 0})
    head = Choice("classifier", {"classes": 3, "pool": "mean"})
    found = patch_heat(small("image_classification", input=patches, head=head), image)
    assert found.shape == (4, 4) and float(found.sum()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("channels", [1, 3])
def test_a_picture_of_both(image: Path, channels: int, tmp_path: Path) -> None:
    patches = Choice("image", {"size": 8, "patch": 4, "channels": channels})
    loaded = small("image_classification", input=patches)
    draw_rollout(loaded, image, tmp_path / "heat.png")
    with Image.open(tmp_path / "heat.png") as drawn:
        assert drawn.size == (960, 480) and len(set(drawn.convert("RGB").resize((20, 10)).tobytes())) > 10


def test_what_cannot_be_drawn(image: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="and cannot recognise; use glassformer classify"):
        patch_heat(small("classification"), image)
    with pytest.raises(FileError, match="none"):
        draw_rollout(small("image_classification"), image, tmp_path / "none" / "heat.png")
