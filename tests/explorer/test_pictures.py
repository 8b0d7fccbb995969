"""Images of a request."""

from __future__ import annotations

import pytest
import torch

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.explorer.pictures import example_images, read_image


def test_a_model_whose_data_are_not_here_has_drawn_examples_that_it_recognises() -> None:
    clothes = gf.load("clothes")
    shirt, boot = example_images(clothes)
    assert shirt.shape == boot.shape == (1, 28, 28)
    assert shirt.flip(-1).equal(shirt)
    assert not boot.flip(-1).equal(boot)
    with torch.no_grad():
        said = [clothes.model(*read_image(clothes, {"example": place}).inputs).argmax(-1) for place in (0, 1)]
    assert [clothes.labels[int(one)] for one in said] == ["T-shirt/top", "ankle boot"]


def test_another_size_is_resized_and_other_shapes_are_refused() -> None:
    digits = gf.load("digits")
    side = digits.config.model.input.options["size"]
    read = read_image(digits, {"pixels": [[0.5] * 40] * 40})
    assert read.tensors["input.pixels"].shape == (1, side, side)
    assert float(read.tensors["input.pixels"].min()) == pytest.approx(0.5)
    for pixels in ("x", [1, 2], [[float("nan")]], [[0.0] * 600] * 600, [[[0.0]]] * 5):
        with pytest.raises(GlassformerError):
            read_image(digits, {"pixels": pixels})
