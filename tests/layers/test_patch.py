from __future__ import annotations

from itertools import product

import pytest
import torch
import torch.nn.functional as F

from glassformer.errors import ConfigError, InputError
from glassformer.layers.patch import ImagePatches, SeriesPatches
from glassformer.trace.record import record


@pytest.mark.parametrize(("channels", "patch", "bias"), list(product((1, 3), (2, 4), (True, False))))
def test_image_patches_equal_a_convolution_with_the_same_weights(channels: int, patch: int, bias: bool) -> None:
    patches = ImagePatches(d_model=5, size=8, patch=patch, channels=channels, class_tokens=0, bias=bias).double()
    convolution = torch.nn.Conv2d(channels, 5, patch, stride=patch, bias=bias).double()
    with torch.no_grad():
        patches.projection.weight.copy_(convolution.weight.flatten(1))
        if bias:
            patches.projection.bias.copy_(convolution.bias)
    images = torch.randn(2, channels, 8, 8).double()
    expected = convolution(images).flatten(2).transpose(1, 2)
    torch.testing.assert_close(patches(images), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize(("patch", "stride", "channels"), [(4, 2, 1), (6, 2, 3), (12, 4, 1), (4, 4, 2), (3, 1, 1)])
def test_patches_that_overlap_equal_a_convolution_with_padding(patch: int, stride: int, channels: int) -> None:
    sizes = {"size": 8, "patch": patch, "stride": stride, "channels": channels, "class_tokens": 0}
    patches = ImagePatches(d_model=5, **sizes).double()
    images = torch.randn(2, channels, 8, 8).double()
    weight = patches.projection.weight.reshape(5, channels, patch, patch)
    around = F.conv2d(images, weight, patches.projection.bias, stride=stride, padding=(patch - stride) // 2)
    expected = around.flatten(2).transpose(1, 2)
    torch.testing.assert_close(patches(images), expected, atol=1e-12, rtol=0)
    assert expected.shape[1] == ImagePatches.positions(size=8, patch=patch, stride=stride, class_tokens=0)


def test_a_patch_that_overlaps_reaches_alike_to_all_sides_and_beyond_the_edge() -> None:
    patches = ImagePatches(d_model=16, size=4, patch=4, stride=2, channels=1, class_tokens=0, bias=False)
    with torch.no_grad():
        patches.projection.weight.copy_(torch.eye(16))
    first, *_, last = patches(torch.arange(1.0, 17.0).reshape(1, 1, 4, 4))[0].unflatten(-1, (4, 4)).tolist()
    assert first == [[0, 0, 0, 0], [0, 1, 2, 3], [0, 5, 6, 7], [0, 9, 10, 11]]
    assert last == [[6, 7, 8, 0], [10, 11, 12, 0], [14, 15, 16, 0], [0, 0, 0, 0]]


def test_a_digit_anywhere_lies_whole_in_a_patch() -> None:
    """The recipes that find digits rely on it: 8 pixels, patches of 12, a new one every 4."""
    side, patch, stride = 8, 12, 4
    box = ImagePatches(d_model=patch**2, size=32, patch=patch, stride=stride, channels=1, class_tokens=0, bias=False)
    with torch.no_grad():
        box.projection.weight.copy_(torch.eye(patch**2))
    for x, y in product(range(32 - side + 1), repeat=2):
        image = torch.zeros(1, 1, 32, 32)
        image[:, :, y : y + side, x : x + side] = 1
        with torch.no_grad():
            assert float(box(image).sum(-1).max()) == side**2


def test_image_patches_are_read_row_by_row() -> None:
    patches = ImagePatches(d_model=1, size=4, patch=2, channels=1, class_tokens=0, bias=False)
    with torch.no_grad():
        patches.projection.weight.copy_(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))  # the upper left pixel of each patch
    images = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert patches(images).flatten().tolist() == [0.0, 2.0, 8.0, 10.0]


@pytest.mark.parametrize(
    ("sizes", "line"),
    [
        ({"size": 7, "patch": 2}, "input.patch=2 does not divide input.size=7; use a divisor"),
        ({"size": 8, "patch": 0}, "input.patch=0 is out of range; use 1 to 2147483647"),
        ({"size": 8, "patch": 4, "stride": 0}, "input.stride=0 is out of range; use 1 to 2147483647"),
        ({"size": 8, "patch": 5, "stride": 3}, "input.stride=3 does not divide input.size=8; use a divisor"),
        (
            {"size": 8, "patch": 5, "stride": 2},
            "input.patch=5 must exceed input.stride=2 by 0 or an even number, half of it on each side; use 6",
        ),
        (
            {"size": 8, "patch": 2, "stride": 4},
            "input.patch=2 must exceed input.stride=4 by 0 or an even number, half of it on each side; use 4",
        ),
        ({"size": 8.0, "patch": 2}, "input.size=8.0 is of the wrong type; use a whole number, such as 512"),
    ],
)
def test_patches_that_do_not_cover_the_image_are_refused(sizes: dict[str, int], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ImagePatches(d_model=4, **sizes)
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("sizes", "line"),
    [
        (
            {"context": 4, "length": 6, "stride": 1},
            "input.length=6 is longer than input.context=4; use a shorter patch",
        ),
        ({"context": 4, "length": 2, "stride": 0}, "input.stride=0 is out of range; use 1 to 2147483647"),
    ],
)
def test_patches_that_do_not_fit_into_the_series_are_refused(sizes: dict[str, int], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SeriesPatches(d_model=4, **sizes)
    assert str(caught.value) == line


@pytest.mark.parametrize("class_tokens", [0, 1, 2])
def test_class_tokens_stand_in_front(class_tokens: int) -> None:
    patches = ImagePatches(d_model=3, size=4, patch=2, class_tokens=class_tokens)
    with torch.no_grad():
        for parameter in patches.parameters():
            parameter.normal_()
    images = torch.randn(2, 3, 4, 4)
    with record(patches) as trace:
        x = patches(images)
    assert x.shape == (2, 4 + class_tokens, 3)
    assert x.shape[1] == ImagePatches.positions(size=4, patch=2, class_tokens=class_tokens)
    assert torch.equal(trace["output"], x)
    if class_tokens:
        assert patches.class_token is not None
        assert torch.equal(x[:, :class_tokens], patches.class_token.expand(2, -1, -1))
    assert not torch.equal(x[0, class_tokens:], x[1, class_tokens:])


def test_an_image_of_vit_gives_197_positions() -> None:
    assert ImagePatches.positions(size=224, patch=16) == 197
    assert ImagePatches.positions(size=224, patch=16, class_tokens=2) == 198


@pytest.mark.parametrize("shape", [(3, 4, 4), (1, 1, 4, 4), (1, 3, 4, 5), (1, 3, 8, 8)])
def test_an_image_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    expected = r"^images have shape .*; this model takes batch × \(3, 4, 4\); resize them$"
    with pytest.raises(InputError, match=expected):
        ImagePatches(d_model=3, size=4, patch=2)(torch.zeros(shape))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_an_image_with_nan_or_infinity_is_refused(value: float) -> None:
    images = torch.zeros(1, 3, 4, 4)
    images[0, 1, 2, 3] = value
    images[0, 0, 0, 0] = value
    with pytest.raises(InputError, match=r"^the input holds NaN or infinity \(2 of 48 values\); mend or leave out"):
        ImagePatches(d_model=3, size=4, patch=2)(images)


def test_thirty_days_in_patches_of_six_with_stride_three_are_nine() -> None:
    patches = SeriesPatches(d_model=1, context=30, length=6, stride=3)
    with torch.no_grad():
        patches.projection.weight.copy_(torch.tensor([[1.0, 0.0, 0.0, 0.0, 0.0, 100.0]]))  # the first and the last day
        patches.projection.bias.zero_()
    x = patches(torch.arange(30.0).reshape(1, 1, 30))
    assert x.shape == (1, 9, 1)
    assert x.flatten().tolist() == [3 * n + 100 * (3 * n + 5) for n in range(9)]
    assert SeriesPatches.positions(context=30, length=6, stride=3) == 9


def test_patchtst_has_forty_two_patches() -> None:
    patches = SeriesPatches(d_model=4, context=336, length=16, stride=8, pad_end=True)
    assert patches(torch.randn(2, 1, 336)).shape == (2, 42, 4)
    assert SeriesPatches.positions(context=336, length=16, stride=8, pad_end=True) == 42
    assert SeriesPatches.positions(context=336, length=16, stride=8) == 41


def test_the_end_is_padded_with_the_last_value() -> None:
    patches = SeriesPatches(d_model=4, context=6, length=4, stride=2, pad_end=True, bias=False).double()
    with torch.no_grad():
        patches.projection.weight.copy_(torch.eye(4))
    x = patches(torch.arange(6.0).double().reshape(1, 1, 6))
    assert x[0].tolist() == [[0.0, 1.0, 2.0, 3.0], [2.0, 3.0, 4.0, 5.0], [4.0, 5.0, 5.0, 5.0]]


def test_channels_become_part_of_each_patch() -> None:
    patches = SeriesPatches(d_model=4, context=4, length=2, stride=2, channels=2, bias=False)
    with torch.no_grad():
        patches.projection.weight.copy_(torch.eye(4))
    series = torch.tensor([[[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]]])
    assert patches(series)[0].tolist() == [[1.0, 2.0, 10.0, 20.0], [3.0, 4.0, 30.0, 40.0]]


@pytest.mark.parametrize(
    ("context", "length", "stride", "pad_end"), list(product((7, 12, 30), (1, 4, 7), (1, 3, 9), (True, False)))
)
def test_the_number_of_patches_is_known_beforehand(context: int, length: int, stride: int, pad_end: bool) -> None:
    sizes = {"context": context, "length": length, "stride": stride, "pad_end": pad_end}
    x = SeriesPatches(d_model=2, **sizes)(torch.randn(1, 1, context))
    assert x.shape == (1, SeriesPatches.positions(**sizes), 2)


def test_series_patches_equal_a_convolution_with_the_same_weights() -> None:
    patches = SeriesPatches(d_model=5, context=20, length=6, stride=3, channels=2).double()
    series = torch.randn(2, 2, 20).double()
    weight = patches.projection.weight.reshape(5, 2, 6)
    expected = F.conv1d(series, weight, patches.projection.bias, stride=3).transpose(1, 2)
    torch.testing.assert_close(patches(series), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("shape", [(30,), (2, 30), (2, 1, 29), (2, 2, 30)])
def test_a_series_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    expected = r"^series have shape .*; this model takes batch × \(1, 30\); cut or choose them so$"
    with pytest.raises(InputError, match=expected):
        SeriesPatches(d_model=2, context=30, length=6, stride=3)(torch.zeros(shape))


def test_a_series_with_nan_is_refused() -> None:
    series = torch.zeros(1, 1, 30)
    series[0, 0, 29] = float("nan")
    with pytest.raises(InputError, match=r"the input holds NaN or infinity \(1 of 30 values\)"):
        SeriesPatches(d_model=2, context=30, length=6, stride=3)(series)
