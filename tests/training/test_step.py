from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from glassformer.data.batch import PairBatch
from glassformer.losses import LOSSES, Sum, make_loss
from glassformer.tasks.translation.task import Translation
from glassformer.training.meter import Meter
from glassformer.training.optimizer import OPTIMIZERS, make_optimizer
from glassformer.training.precision import LossScale
from glassformer.training.step import Stepper
from small_run import VOCABULARY, examples, run_config, small_model, translation

CPU = torch.device("cpu")
CRITERIA: dict[str, Callable[[Tensor, Tensor], Sum]] = {
    "cross_entropy": make_loss("cross_entropy", {"smoothing": 0.0}),
    "cross_entropy, smoothed": make_loss("cross_entropy", {"smoothing": 0.1}),
    "focal": make_loss("focal", {"gamma": 2.0}),
    "cross_entropy, weighted": make_loss("cross_entropy", {"weights": [0.5 + i / 10 for i in range(VOCABULARY)]}),
    "focal, weighted": make_loss("focal", {"weights": [0.5 + i / 10 for i in range(VOCABULARY)]}),
}


def stepper(task: Any = None, *, precision: str = "float32", double: bool = False, **keys: Any) -> Stepper:
    biases = ["q", "v", "o", "feed_forward", "norm"]  # that of k has no slope: Adam would step by its rounding errors
    config = run_config(
        {"dropout": 0.0, "bias": biases}, **{name: keys.pop(name) for name in ("optimizer",) if name in keys}
    )
    model = small_model(config)
    model = model.double() if double else model
    return Stepper(
        model=model,
        task=task or translation(config),
        optimizer=make_optimizer(model, config.train),
        loss_scale=LossScale(precision, CPU),
        meter=Meter(CPU),
        device=CPU,
        precision=precision,
        **keys,
    )


def batches(task: Translation, *sizes: int) -> list[PairBatch]:
    store, made, start = examples(sum(sizes)), [], 0
    for size in sizes:
        made.append(task.collate([store[i] for i in range(start, start + size)]))
        start += size
    return made


def slopes(model: nn.Module) -> dict[str, Tensor]:
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("chunk", [0, 5])
@pytest.mark.parametrize("name", CRITERIA)
def test_accumulation_is_one_big_batch(name: str, chunk: int) -> None:
    """First F7: micro-batches of unequal numbers of tokens, gradients ≤ 1e-12 in float64."""
    task = translation(run_config(), criterion=CRITERIA[name], chunk=chunk)
    one = stepper(task, double=True)
    parts, whole = batches(task, 1, 7, 3, 13), batches(task, 24)
    assert len({part.count for part in parts}) == 4
    count = sum(part.count for part in parts)
    assert count == whole[0].count
    total = one.gradients(parts, count)
    found = slopes(one.model)
    expected_total = one.gradients(whole, count)
    expected = slopes(one.model)
    torch.testing.assert_close(total, expected_total, rtol=0, atol=1e-10)
    assert len(found) == len(list(one.model.parameters()))
    for key, slope in expected.items():
        torch.testing.assert_close(found[key], slope, rtol=0, atol=1e-12, msg=key)


def test_a_mean_of_means_would_not_be() -> None:
    """What most training loops do, and why it is wrong: the same micro-batches, divided one by one."""
    task = translation(run_config())
    one = stepper(task, double=True)
    parts = batches(task, 1, 7, 3, 13)
    one.gradients(parts, sum(part.count for part in parts))
    right = slopes(one.model)["embedding.weight"]
    one.optimizer.zero_grad()
    for part in parts:
        (task.loss(one.model, part).mean / len(parts)).backward()
    assert float((slopes(one.model)["embedding.weight"] - right).abs().max()) > 1e-4


ONE_NUMBER: dict[str, Callable[[Tensor, Tensor], Sum]] = {
    "mse": make_loss("mse", {}),
    "mae": make_loss("mae", {}),
    "huber": make_loss("huber", {"delta": 0.5}),
    "binary_cross_entropy": make_loss("binary_cross_entropy", {"weights": [0.5, 2.0]}),
}


@pytest.mark.parametrize("name", ONE_NUMBER)
def test_accumulation_is_one_big_batch_for_one_number_too(name: str) -> None:
    torch.manual_seed(0)
    loss = ONE_NUMBER[name]
    weight = torch.randn(4, dtype=torch.float64, requires_grad=True)
    x, y = torch.randn(9, 4, dtype=torch.float64), torch.randn(9, dtype=torch.float64)
    y = (y > 0).long() if name == "binary_cross_entropy" else y
    whole = torch.autograd.grad(loss(x @ weight, y).mean, weight)[0]
    parts = [loss(x[rows] @ weight, y[rows]) for rows in (slice(0, 1), slice(1, 6), slice(6, 9))]
    count = sum(int(part.count) for part in parts)
    summed = sum(torch.autograd.grad(part.total / count, weight)[0] for part in parts)
    torch.testing.assert_close(summed, whole, rtol=0, atol=1e-12)


def test_every_loss_is_tried_here() -> None:
    assert {name.split(",")[0] for name in CRITERIA} | set(ONE_NUMBER) == set(LOSSES)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("clip", [None, 0.01, 1e6])
def test_a_step_is_that_of_torch(optimizer: str, clip: float | None) -> None:
    """Division, clipping by the norm of the whole gradient, update: against torch's own functions, one by one."""
    ours, theirs = stepper(optimizer=optimizer, clip=clip), stepper(optimizer=optimizer)
    task = translation(run_config())
    for i in range(3):
        parts = batches(task, 4 + i, 9)
        ours.take_step(parts, 1e-2)
        theirs.optimizer.zero_grad()
        count = sum(part.count for part in parts)
        sum(task.loss(theirs.model, part).total / count for part in parts).backward()  # type: ignore[union-attr]
        if clip is not None:
            nn.utils.clip_grad_norm_(theirs.model.parameters(), clip)
        for group in theirs.optimizer.param_groups:
            group["lr"] = 1e-2
        theirs.optimizer.step()
        for (name, a), b in zip(ours.model.named_parameters(), theirs.model.parameters(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6, msg=name)


def test_the_norm_that_is_reported_is_that_before_clipping() -> None:
    clipped, free = stepper(clip=1e-3), stepper()
    parts = batches(translation(run_config()), 8)
    clipped.take_step(parts, 1e-3)
    free.take_step(parts, 1e-3)
    assert clipped.meter.read() == free.meter.read()
    assert clipped.meter.read().gradient_norm > 1e-3


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_step_that_is_not_finite_changes_nothing_and_is_counted(optimizer: str, value: float) -> None:
    one, other = stepper(optimizer=optimizer, clip=1.0), stepper(optimizer=optimizer, clip=1.0)
    task = translation(run_config())
    good, also_good, bad = batches(task, 5, 5, 5)
    poisoned = {"on": False}

    def poison(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
        return output * value if poisoned["on"] else output

    one.model.get_submodule("head").register_forward_hook(poison)
    for step in (one, other):
        step.take_step([good], 1e-2)
    poisoned["on"] = True
    for _ in range(2):
        one.take_step([bad], 1e-2)
    poisoned["on"] = False
    assert (one.meter.read().skipped, one.meter.read().in_a_row) == (2, 2)
    for step in (one, other):
        step.take_step([also_good], 1e-2)
    for a, b in zip(one.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(a, b)
    assert (one.meter.read().skipped, one.meter.read().in_a_row, one.meter.read().steps) == (2, 0, 2)


def test_fp16_is_scaled_and_back() -> None:
    """The scaled gradient is divided again: the step is that of float32, to the precision of fp16."""
    half, full = stepper(precision="fp16", clip=1.0), stepper(clip=1.0)
    parts = batches(translation(run_config()), 6, 9)
    for step in (half, full):
        step.take_step(parts, 1e-3)
    ours, theirs = half.meter.read(), full.meter.read()
    assert half.loss_scale.state() == {"scale": 65536.0, "good": 1}
    assert ours.loss == pytest.approx(theirs.loss, rel=1e-2)
    assert ours.gradient_norm == pytest.approx(theirs.gradient_norm, rel=1e-2)


def test_a_scale_that_is_too_large_is_halved_and_the_step_skipped() -> None:
    one = stepper(precision="fp16")
    one.loss_scale.factor.fill_(2.0**40)
    before = [p.detach().clone() for p in one.model.parameters()]
    one.take_step(batches(translation(run_config()), 6), 1e-3)
    assert one.loss_scale.state() == {"scale": 2.0**39, "good": 0}
    assert one.meter.read().skipped == 1
    assert all(torch.equal(a, b) for a, b in zip(before, one.model.parameters(), strict=True))


def test_bf16_learns_too() -> None:
    one = stepper(precision="bf16", clip=1.0)
    parts = batches(translation(run_config()), 8)
    for _ in range(20):
        one.take_step(parts, 3e-3)
    first = stepper()
    first.take_step(parts, 0.0)
    last = one.meter.read()
    assert last.skipped == 0 and last.loss < first.meter.read().loss
