"""Images of a request."""

from __future__ import annotations

import pytest
import torch

import glassformer as gf
from glassformer.data.canvases import CanvasPlan
from glassformer.errors import GlassformerError
from glassformer.explorer.pictures import example_images, read_canvas, read_image
from glassformer.tasks.object_queries.task import likeliest_objects


def test_a_model_whose_data_are_not_here_has_drawn_examples_that_it_recognises() -> None:
    clothes = gf.load("clothes")
    shirt, boot = example_images(clothes)
    assert shirt.shape == boot.shape == (1, 28, 28)
    assert shirt.flip(-1).equal(shirt)
    assert not boot.flip(-1).equal(boot)
    with torch.no_grad():
        said = [clothes.model(*read_image(clothes, {"example": place}).inputs).argmax(-1) for place in (0, 1)]
    assert [clothes.labels[int(one)] for one in said] == ["T-shirt/top", "ankle boot"]


def test_the_objects_of_the_package_find_the_digits_of_their_examples() -> None:
    pytest.importorskip("sklearn")
    objects = gf.load("objects")
    there = CanvasPlan.of(objects.config.data).examples("test").fields["labels"]
    found = asked = 0
    for place in range(len(example_images(objects))):
        read = read_canvas(objects, {"example": place})
        assert (read.shown["grid"], read.shown["patch"], read.shown["stride"], len(read.source)) == ([8, 8], 12, 4, 64)
        with torch.no_grad():
            answers = set(likeliest_objects(objects.model(*read.inputs)).said[0].tolist())
        wanted = {label for label in there[place].tolist() if label >= 0}
        found, asked = found + len(wanted & answers), asked + len(wanted)
    assert found >= 0.9 * asked > 10


def test_another_size_is_resized_and_other_shapes_are_refused() -> None:
    digits = gf.load("digits")
    side = digits.config.model.input.options["size"]
    read = read_image(digits, {"pixels": [[0.5] * 40] * 40})
    assert read.tensors["input.pixels"].shape == (1, side, side)
    assert float(read.tensors["input.pixels"].min()) == pytest.approx(0.5)
    for pixels in ("x", [1, 2], [[float("nan")]], [[0.0] * 600] * 600, [[[0.0]]] * 5):
        with pytest.raises(GlassformerError):
            read_image(digits, {"pixels": pixels})
