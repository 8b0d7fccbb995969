"""Products on a CPU: F.linear's to rounding, counted by torch's own counter, out of the way where torch is watched."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from glassformer.decoding.step import evaluating
from glassformer.kernels import linear as module
from glassformer.kernels.joint_linear import joins, joint_linear
from glassformer.kernels.linear import (
    LARGE,
    LARGE_PACKED,
    ONEDNN,
    Linear,
    activated,
    are_packed,
    linear_map,
    packed_weights,
)
from glassformer.layers.feed_forward.activation import ACTIVATIONS
from glassformer.layers.int8 import Int8Linear
from glassformer.trace.record import record

pytestmark = pytest.mark.skipif(not ONEDNN, reason="torch has no oneDNN for this processor")

ROWS, D, N = 64, 256, 512
assert ROWS * D * N >= LARGE


def given(*shape: int, slopes: bool = False) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape) + shape[0])).requires_grad_(slopes)


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes of the inputs that did not go the plain way."""
    seen: list[tuple[int, ...]] = []
    plain = module._product

    def product(x: Tensor, weight: Tensor, bias: Tensor | None, then: str = "none") -> Tensor:
        seen.append(tuple(x.shape))
        return plain(x, weight, bias, then)

    monkeypatch.setattr(module, "_product", product)
    return seen


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("shape", [(ROWS, D), (8, ROWS // 8, D)])
def test_values_and_slopes(ours: list[object], shape: tuple[int, ...], biased: bool) -> None:
    x, weight = given(*shape, slopes=True), given(N, D, slopes=True)
    inputs = (x, weight, given(N, slopes=True)) if biased else (x, weight)
    y, plain = linear_map(*inputs), F.linear(*inputs)
    assert len(ours) == 1
    torch.testing.assert_close(y, plain, rtol=1e-5, atol=1e-4)
    dy = given(*plain.shape)
    slopes, expected = torch.autograd.grad(y, inputs, dy), torch.autograd.grad(plain, inputs, dy)
    assert len(ours) == 2  # dx as well
    for mine, theirs in zip(slopes, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-3)


def test_slopes_of_slopes() -> None:
    x, weight = given(ROWS, D, slopes=True), given(N, D, slopes=True)
    seconds = []
    for product in (linear_map, F.linear):
        (dx,) = torch.autograd.grad(product(x, weight).square().sum(), x, create_graph=True)
        seconds.append(torch.autograd.grad(dx.square().sum(), weight)[0])
    mine, theirs = seconds
    assert (mine - theirs).abs().max() < 1e-5 * theirs.abs().max()


def test_a_matrix_laid_out_otherwise(ours: list[object]) -> None:
    x, weight = given(D, ROWS).t(), given(D, N).t()
    torch.testing.assert_close(linear_map(x, weight), F.linear(x, weight), rtol=1e-5, atol=1e-4)
    assert ours


def test_what_autograd_keeps_is_the_same() -> None:
    """So the exact ledger of saved bytes holds for either."""
    x, weight, bias = given(ROWS, D, slopes=True), given(N, D, slopes=True), given(N, slopes=True)

    def kept(product: object) -> set[tuple[int, int]]:
        seen: set[tuple[int, int]] = set()

        def keep(saved: Tensor) -> Tensor:
            seen.add((saved.untyped_storage().data_ptr(), saved.untyped_storage().nbytes()))
            return saved

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda saved: saved):
            product(x, weight, bias)  # type: ignore[operator]
        return seen

    assert kept(linear_map) == kept(F.linear)


def test_torch_counts_its_flops() -> None:
    x, weight = given(ROWS, D, slopes=True), given(N, D, slopes=True)
    with FlopCounterMode(display=False) as counter:
        linear_map(x, weight).sum().backward()
    assert counter.get_total_flops() == 3 * 2 * ROWS * D * N


def test_small_products_are_torchs_own(ours: list[object]) -> None:
    x, weight = given(4, D), given(N, D)
    assert 4 * D * N < LARGE_PACKED
    assert torch.equal(linear_map(x, weight), F.linear(x, weight)) and not ours


class Looking(TorchFunctionMode):
    seen: list[object] = []  # noqa: RUF012

    def __torch_function__(self, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        self.seen.append(function)
        return function(*args, **(kwargs or {}))


def test_who_looks_sees_the_plain_form(ours: list[object]) -> None:
    with Looking() as looking:
        linear_map(given(ROWS, D), given(N, D))
    assert F.linear in looking.seen and not ours


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types_are_torchs_own(ours: list[object], dtype: torch.dtype) -> None:
    linear_map(given(ROWS, D).to(dtype), given(N, D).to(dtype))
    with torch.autocast("cpu", torch.bfloat16):
        linear_map(given(ROWS, D), given(N, D))
    assert not ours


def test_weights_in_the_kernels_order(ours: list[object]) -> None:
    x, weight, bias = given(8, 1, D), given(N, D), given(N)
    assert LARGE_PACKED <= 8 * D * N < LARGE
    with packed_weights(), packed_weights():
        torch.testing.assert_close(linear_map(x, weight, bias), F.linear(x, weight, bias), rtol=1e-5, atol=1e-4)
        assert len(ours) == 1
        linear_map(x, weight, bias)
    linear_map(x, weight, bias)  # outside, too small
    assert len(ours) == 2


def test_weights_are_read_anew_each_time() -> None:
    model = Linear(D, N)
    x = given(8, D)
    with evaluating(model), torch.no_grad():
        before = model(x)
    with torch.no_grad():
        model.weight.data.zero_()  # behind autograd's back
    with evaluating(model), torch.no_grad():
        torch.testing.assert_close(model(x), model.bias.expand(8, N))
    assert not torch.equal(before, model(x))


def test_slopes_inside_evaluation() -> None:
    model = Linear(D, N)
    with evaluating(model):
        model(given(8, D)).sum().backward()
    assert model.weight.grad is not None and model.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("biased", [True, False])
@torch.no_grad()
def test_layers_of_one_input_are_one_product(ours: list[object], biased: bool) -> None:
    x, layers = given(8, 4, D), [Linear(D, n, bias=biased) for n in (256, 128, 128)]
    expected = [F.linear(x, layer.weight, layer.bias) for layer in layers]
    with packed_weights():
        for often in (True, False):
            assert joins(x, *layers, often=often)
            for mine, plain in zip(joint_linear(x, *layers), expected, strict=True):
                torch.testing.assert_close(mine, plain, rtol=1e-5, atol=1e-4)
        assert len(ours) == 2
        layers[0](x)  # by itself it is another product
    torch.testing.assert_close(joint_packed_anew(x, layers)[0], expected[0] * 0.0, rtol=0, atol=0)


def joint_packed_anew(x: Tensor, layers: list[Linear]) -> tuple[Tensor, ...]:
    for layer in layers:
        layer.weight.data.zero_()
        if layer.bias is not None:
            layer.bias.data.zero_()
    with packed_weights():
        return joint_linear(x, *layers)


@torch.no_grad()
def test_what_stays_three_products() -> None:
    x, alike, other = given(8, 4, D), Linear(D, 256), Linear(D, 256, bias=False)
    assert not joins(x, alike, alike, often=True)  # nobody has said that the weights stay
    with packed_weights():
        assert joins(x, alike, alike, often=True)
        assert not joins(x, alike, other, often=True)
        assert not joins(x, alike, Int8Linear(alike.weight), often=True)
        assert not joins(x.double(), alike, alike, often=True)
        assert not joins(x[:1, :1], alike, alike, often=True)  # a single row
        with torch.enable_grad():
            assert not joins(x, alike, alike, often=True)
        with record(alike):  # an observer sees each layer
            assert not joins(x, alike, alike, often=True) and not are_packed(x)
        with Looking():
            assert not joins(x, alike, alike, often=True)


@pytest.mark.parametrize("name", ACTIVATIONS)
@torch.no_grad()
def test_an_activation_after_the_product(name: str) -> None:
    x, layer, activation = given(8, 4, D), Linear(D, N), ACTIVATIONS[name]
    plain = activation(F.linear(x, layer.weight, layer.bias))
    with packed_weights():
        torch.testing.assert_close(activated(x, layer, activation), plain, rtol=1e-5, atol=1e-4)
    assert torch.equal(activated(x, layer, activation), activation(layer(x)))


@torch.no_grad()
def test_relu_inside_the_product_is_relu_after_it() -> None:
    x, layer = given(8, 4, D), Linear(D, N)
    with packed_weights():
        assert torch.equal(activated(x, layer, F.relu), F.relu(layer(x)))


def test_a_single_vector_has_its_gradients() -> None:
    x, weight = torch.randn(2048, requires_grad=True), torch.randn(2048, 2048, requires_grad=True)
    linear_map(x, weight).sum().backward()
    torch.testing.assert_close(weight.grad, x.detach().expand(2048, -1))
    torch.testing.assert_close(x.grad, weight.detach().sum(0), rtol=1e-4, atol=1e-3)


def test_for_a_comparison_every_product_is_torchs_own() -> None:
    x, weight = torch.randn(256, 512), torch.randn(512, 512)
    with torch.no_grad(), module.plain_products():
        assert torch.equal(linear_map(x, weight), F.linear(x, weight))


def test_a_backward_pass_packs_nothing() -> None:
    """The matrix of a backward pass is a new tensor each time: held, it would never be found again."""
    layer, known = Linear(512, 512), {}
    x = torch.randn(64, 512, requires_grad=True)
    with packed_weights(known):
        for _ in range(3):
            layer(x).sum().backward()
        assert not known
        with torch.no_grad():
            layer(x)
        assert len(known) == module.ONEDNN
