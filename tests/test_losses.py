from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from glassformer.losses import (
    IGNORE,
    LOSSES,
    Sum,
    binary_cross_entropy,
    chunked,
    cross_entropy,
    focal,
    huber,
    make_loss,
    mean_absolute_error,
    mean_squared_error,
)

CRITERIA: dict[str, Callable[[Tensor, Tensor], Sum]] = {
    "cross_entropy": make_loss("cross_entropy", {}),
    "smoothed": make_loss("cross_entropy", {"smoothing": 0.1}),
    "focal": make_loss("focal", {"gamma": 2.0}),
    "focal-half": make_loss("focal", {"gamma": 0.5}),
    "focal-0": make_loss("focal", {"gamma": 0.0}),
    "cross_entropy-weighted": make_loss("cross_entropy", {"weights": [1, 2, 0.5, 1, 3, 1, 0.1]}),
    "focal-weighted": make_loss("focal", {"weights": [1, 2, 0.5, 1, 3, 1, 0.1]}),
}
OTHERS: dict[str, Callable[[Tensor, Tensor], Sum]] = {  # of one logit, and of numbers
    "binary_cross_entropy": make_loss("binary_cross_entropy", {}),
    "mse": make_loss("mse", {}),
    "mae": make_loss("mae", {}),
    "huber": make_loss("huber", {"delta": 0.5}),
}


def case(v: int = 7, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Logits b t v and targets b t of which some do not count."""
    torch.manual_seed(seed)
    targets = torch.randint(v, (3, 5))
    targets[0, 3:], targets[2, 1] = IGNORE, IGNORE
    return torch.randn(3, 5, v, dtype=torch.float64, requires_grad=True), targets


def test_cross_entropy_by_hand() -> None:
    logits = torch.tensor([[[0.0, math.log(3.0)]]], dtype=torch.float64)  # p = ¼, ¾
    plain = cross_entropy(logits, torch.tensor([[1]]))
    assert float(plain.total) == pytest.approx(-math.log(0.75), abs=1e-15)
    assert int(plain.count) == 1
    smoothed = cross_entropy(logits, torch.tensor([[1]]), smoothing=0.2)
    assert float(smoothed.total) == pytest.approx(-0.9 * math.log(0.75) - 0.1 * math.log(0.25), abs=1e-15)


def test_focal_by_hand() -> None:
    logits = torch.tensor([[[0.0, math.log(3.0)]]], dtype=torch.float64)
    assert float(focal(logits, torch.tensor([[1]])).total) == pytest.approx(-(0.25**2) * math.log(0.75), abs=1e-15)


def test_regression_by_hand() -> None:
    y, targets = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 4.0, 0.0])
    assert mean_squared_error(y, targets) == Sum(torch.tensor(13.0), torch.tensor(3))
    assert mean_absolute_error(y, targets) == Sum(torch.tensor(5.0), torch.tensor(3))
    mask = torch.tensor([True, True, False])
    assert float(mean_squared_error(y, targets, mask=mask).mean) == 2.0
    assert float(mean_absolute_error(y, targets, mask=mask).mean) == 1.0


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_cross_entropy_is_torchs(smoothing: float) -> None:
    logits, targets = case()
    ours = cross_entropy(logits, targets, smoothing=smoothing)
    theirs = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=smoothing)
    torch.testing.assert_close(ours.mean, theirs, rtol=0, atol=1e-12)
    assert int(ours.count) == 15 - 3


def test_smoothing_is_the_equation() -> None:
    """−Σ q log p with q = (1 − ε)·onehot + ε/v, written out."""
    logits, targets = case()
    v, log_p = logits.shape[-1], logits.log_softmax(-1)
    kept = targets != IGNORE
    q = 0.9 * F.one_hot(targets.clamp(min=0), v).double() + 0.1 / v
    expected = -(q * log_p).sum(-1)[kept].sum()
    torch.testing.assert_close(cross_entropy(logits, targets, smoothing=0.1).total, expected, rtol=0, atol=1e-12)


def test_focal_without_focus_is_cross_entropy() -> None:
    logits, targets = case()
    torch.testing.assert_close(
        focal(logits, targets, gamma=0.0).total, cross_entropy(logits, targets).total, rtol=0, atol=1e-12
    )


def test_focal_is_the_equation() -> None:
    logits, targets = case()
    kept = targets != IGNORE
    p = logits.softmax(-1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    expected = (-((1 - p) ** 1.5) * p.log())[kept].sum()
    torch.testing.assert_close(focal(logits, targets, gamma=1.5).total, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_focal_of_what_is_certain_is_0_and_so_is_its_slope(gamma: float) -> None:
    logits = torch.tensor([[[500.0, 0.0], [0.0, 0.0]]], requires_grad=True)
    loss = focal(logits, torch.tensor([[0, IGNORE]]), gamma=gamma)
    loss.total.backward()
    assert loss.total.item() == 0.0
    assert logits.grad is not None and not logits.grad.any()


@pytest.mark.parametrize("name", CRITERIA)
def test_the_slope_is_that_of_finite_differences(name: str) -> None:
    logits, targets = case()
    assert torch.autograd.gradcheck(lambda x: CRITERIA[name](x, targets).total, logits)


@pytest.mark.parametrize("name", CRITERIA)
def test_what_does_not_count_changes_nothing(name: str) -> None:
    logits, targets = case()
    before = CRITERIA[name](logits, targets)
    changed = torch.where((targets == IGNORE)[..., None], 50.0, logits.detach())
    after = CRITERIA[name](changed, targets)
    assert torch.equal(before.total, after.total) and torch.equal(before.count, after.count)


@pytest.mark.parametrize("name", CRITERIA)
def test_a_loss_of_parts_is_the_sum_of_their_losses(name: str) -> None:
    logits, targets = case()
    whole = CRITERIA[name](logits, targets)
    parts = [CRITERIA[name](logits[i : i + 1], targets[i : i + 1]) for i in range(3)]
    torch.testing.assert_close(sum(part.total for part in parts), whole.total, rtol=0, atol=1e-12)
    assert sum(int(part.count) for part in parts) == int(whole.count)


def test_every_loss_is_tried_here() -> None:
    tried = {name.split("-")[0].replace("smoothed", "cross_entropy") for name in CRITERIA}
    assert tried | set(OTHERS) == set(LOSSES)


# --- weights, one logit, numbers ---


def test_weights_by_hand() -> None:
    logits = torch.tensor([[0.0, math.log(3.0)]] * 3, dtype=torch.float64)  # p = ¼, ¾
    targets = torch.tensor([0, 1, IGNORE])
    right, wrong = math.log(0.75), math.log(0.25)
    weighted = cross_entropy(logits, targets, weights=[2.0, 0.5])
    assert float(weighted.total) == pytest.approx(-2 * wrong - 0.5 * right, abs=1e-15)
    assert int(weighted.count) == 2
    focused = focal(logits, targets, gamma=2.0, weights=[2.0, 0.5])
    assert float(focused.total) == pytest.approx(-2 * 0.75**2 * wrong - 0.5 * 0.25**2 * right, abs=1e-15)
    plain = focal(logits, targets, gamma=0.0, weights=[2.0, 0.5])
    assert float(plain.total) == pytest.approx(float(weighted.total), abs=1e-15)


@pytest.mark.parametrize(("smoothing", "weights"), [(0.0, None), (0.1, None), (0.0, [2.0, 0.5])])
def test_one_logit_is_the_difference_of_two(smoothing: float, weights: list[float] | None) -> None:
    torch.manual_seed(0)
    z = torch.randn(6, 1, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([0, 1, 1, 0, IGNORE, 1])
    one = binary_cross_entropy(z, targets, smoothing=smoothing, weights=weights)
    assert int(one.count) == 5
    two = cross_entropy(torch.cat((torch.zeros_like(z), z), 1), targets, smoothing=smoothing, weights=weights)
    torch.testing.assert_close(one.total, two.total, rtol=0, atol=1e-12)
    for loss in (one, two):
        (slope,) = torch.autograd.grad(loss.total, z, retain_graph=True)
        assert float(slope[4]) == 0.0


def test_huber_by_hand() -> None:
    y, targets = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.5, 2.0, 0.0])
    assert float(huber(y, targets).total) == pytest.approx(0.125 + 2.5)
    assert float(huber(y, targets, delta=0.5).total) == pytest.approx(0.125 + 0.5 * 2.75)
    assert int(huber(y, targets, mask=torch.tensor([True, False, False])).count) == 1


@pytest.mark.parametrize("name", OTHERS)
def test_parts_add_up_for_numbers_and_for_one_logit_too(name: str) -> None:
    torch.manual_seed(0)
    y, targets = torch.randn(6, 1, dtype=torch.float64), torch.randint(2, (6, 1)).double()
    whole, parts = OTHERS[name](y, targets), [OTHERS[name](y[i : i + 2], targets[i : i + 2]) for i in (0, 2, 4)]
    assert float(whole.total) == pytest.approx(sum(float(part.total) for part in parts), rel=1e-12)
    assert int(whole.count) == sum(int(part.count) for part in parts) == 6


@pytest.mark.parametrize("size", [1, 4, 15, 100])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", CRITERIA)
def test_chunks_give_the_same_sum_and_the_same_gradients(name: str, bias: bool, size: int) -> None:
    _, targets = case()
    torch.manual_seed(1)
    x = torch.randn(3, 5, 6, dtype=torch.float64, requires_grad=True)
    weights = [torch.randn(7, 6, dtype=torch.float64, requires_grad=True)]
    weights += [torch.randn(7, dtype=torch.float64, requires_grad=True)] if bias else []

    def project(some: Tensor) -> Tensor:
        return F.linear(some, *weights)

    whole = CRITERIA[name](project(x), targets)
    expected = torch.autograd.grad(whole.total / 3.0, [x, *weights])
    parts = chunked(project, CRITERIA[name], x, targets, weights=weights, size=size)
    found = torch.autograd.grad(parts.total / 3.0, [x, *weights])
    torch.testing.assert_close(parts.total, whole.total, rtol=0, atol=1e-12)
    assert int(parts.count) == int(whole.count)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_chunks_without_gradients() -> None:
    _, targets = case()
    x, weight = torch.randn(3, 5, 6), torch.randn(7, 6)
    whole = cross_entropy(F.linear(x, weight), targets)
    parts = chunked(lambda some: F.linear(some, weight), cross_entropy, x, targets, weights=[weight], size=4)
    torch.testing.assert_close(parts.total, whole.total)
    assert int(parts.count) == int(whole.count)


def test_a_weight_that_is_not_trained_gets_no_gradient() -> None:
    _, targets = case()
    x, weight = torch.randn(3, 5, 6, requires_grad=True), torch.randn(7, 6)
    chunked(lambda some: F.linear(some, weight), cross_entropy, x, targets, weights=[weight], size=4).total.backward()
    assert x.grad is not None and weight.grad is None


def test_chunks_never_hold_all_logits() -> None:
    """The largest tensor saved for backward is as large as the weight, not as the logits."""
    n, d, v = 64, 8, 512
    x = torch.randn(n, d, requires_grad=True)
    weight, targets = torch.randn(v, d, requires_grad=True), torch.randint(v, (n,))
    seen: list[int] = []

    def pack(saved: Tensor) -> Tensor:
        seen.append(saved.numel())
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        chunked(lambda some: F.linear(some, weight), cross_entropy, x, targets, weights=[weight], size=4)
    assert max(seen) == weight.numel() == v * d < n * v


def test_chunks_in_bfloat16_sum_in_float32() -> None:
    x = torch.randn(40, 8, requires_grad=True)
    weight, targets = torch.randn(30, 8, requires_grad=True), torch.randint(30, (40,))
    with torch.autocast("cpu", torch.bfloat16):
        parts = chunked(lambda some: F.linear(some, weight), cross_entropy, x, targets, weights=[weight], size=16)
        whole = cross_entropy(F.linear(x, weight), targets)
    parts.total.backward()
    assert parts.total.dtype == torch.float32
    torch.testing.assert_close(parts.total, whole.total, rtol=1e-5, atol=0)
    assert x.grad is not None and x.grad.dtype == torch.float32


def test_shares_of_classes_are_targets_too() -> None:
    """Mixup: a target between two classes costs what lies between both; a whole class costs what its number costs."""
    logits = torch.randn(5, 4, dtype=torch.float64)
    first, second = torch.tensor([0, 1, 2, 3, 0]), torch.tensor([1, 1, 0, 2, 3])
    one_hot = torch.eye(4, dtype=torch.float64)
    for smoothing in (0.0, 0.1):
        a, b = (cross_entropy(logits, classes, smoothing=smoothing) for classes in (first, second))
        whole = cross_entropy(logits, one_hot[first], smoothing=smoothing)
        torch.testing.assert_close(whole.total, a.total)
        mixed = cross_entropy(logits, 0.3 * one_hot[first] + 0.7 * one_hot[second], smoothing=smoothing)
        torch.testing.assert_close(mixed.total, 0.3 * a.total + 0.7 * b.total)
        assert int(mixed.count) == int(a.count) == 5
