from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.errors import ConfigError
from glassformer.layers.position.learned import interpolate
from glassformer.models.build import build
from glassformer.models.resize import resized, resized_config, resized_projection

PATCHES = {"size": 8, "patch": 2, "channels": 1}


def config(position: Choice = Choice("learned"), **changes: object) -> ModelConfig:  # noqa: B008
    table = {
        "family": "encoder", "input": Choice("image", PATCHES), "d_model": 16, "n_heads": 2, "d_ff": 32,
        "n_encoder_layers": 1, "max_len": 17, "position": position, "head": Choice("classifier", {"classes": 3}),
    }  # fmt: skip
    return ModelConfig(**{**table, **changes})  # type: ignore[arg-type]


def test_the_same_size_is_the_same_model() -> None:
    model, images = build(config(), seed=0).eval(), torch.rand(2, 1, 8, 8)
    same, made = resized(model, config(), 8)
    assert made == config() and torch.equal(same(images), model(images))


@pytest.mark.parametrize(("max_len", "offset"), [(17, 0), (30, 2)])
def test_positions_are_interpolated_and_the_class_token_stays(max_len: int, offset: int) -> None:
    given = config(Choice("learned", {"offset": offset}), max_len=max_len)
    model = build(given, seed=0)
    before = model.state_dict()["encoder.positions.weight"].clone()
    larger, made = resized(model, given, 16)
    table = larger.state_dict()["encoder.positions.weight"]
    assert made.max_len == 65 and table.shape == (65 + offset, 16)
    torch.testing.assert_close(table[: offset + 1], before[: offset + 1])
    expected = interpolate(before[offset : offset + 17], 1, (4, 4), (8, 8))
    torch.testing.assert_close(table[offset:], expected)
    assert larger.eval()(torch.rand(2, 1, 16, 16)).shape == (2, 3)
    assert torch.equal(model.state_dict()["encoder.positions.weight"], before)


def test_a_larger_patch_says_the_same_of_an_enlarged_one() -> None:
    weight, patches = torch.randn(5, 3 * 9), torch.rand(7, 3, 3, 3)
    grown = F.interpolate(patches, (6, 6), mode="bilinear", align_corners=False)
    found = grown.flatten(1) @ resized_projection(weight, 3, 3, 6).T
    torch.testing.assert_close(found, patches.flatten(1) @ weight.T, atol=1e-4, rtol=1e-4)


def test_with_a_patch_that_grows_the_grid_stays() -> None:
    model = build(config(), seed=0)
    larger, made = resized(model, config(), 16, patch=4)
    assert made.max_len == 17 and larger.state_dict()["embedding.projection.weight"].shape == (16, 16)
    assert torch.equal(larger.state_dict()["encoder.positions.weight"], model.state_dict()["encoder.positions.weight"])


def test_patches_that_overlap_keep_their_grid_or_their_stride() -> None:
    given = config(input=Choice("image", {**PATCHES, "patch": 4, "stride": 2}))
    model = build(given, seed=0)
    larger, made = resized(model, given, 16, patch=8)
    assert (made.input.options["stride"], made.max_len) == (4, 17)
    assert torch.equal(larger.state_dict()["encoder.positions.weight"], model.state_dict()["encoder.positions.weight"])
    more, made = resized(model, given, 16)
    assert (made.input.options["stride"], made.max_len) == (2, 65)
    assert more.eval()(torch.rand(2, 1, 16, 16)).shape == (2, 3)


def test_what_cannot_be_resized() -> None:
    with pytest.raises(ConfigError, match="only learned positions can be taken to another size of image, here"):
        resized_config(config(Choice("sinusoidal")), 16)
    with pytest.raises(ConfigError, match="the input of this model is 'vectors', not image"):
        resized_config(config(input=Choice("vectors"), head=Choice("none")), 16)
    with pytest.raises(ConfigError, match="patch"):
        resized_config(config(), 15)
