from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.optim import lr_scheduler

from glassformer.config.recipe import TrainConfig
from glassformer.config.values import Choice
from glassformer.loading import open_recipe, recipes
from glassformer.training.schedule import SCHEDULES, Span, heed, learning_rate, noam


def test_equation_3_by_hand() -> None:
    """d_model 512, warm-up 4000: the peak, at step 4000, is (512 · 4000)^−½ = 1/1431.08."""
    span = Span(warmup=4000, steps=100_000, d_model=512)
    assert noam(4000, span) == pytest.approx(1 / math.sqrt(512 * 4000), rel=1e-12)
    assert noam(1, span) == pytest.approx(512**-0.5 * 4000**-1.5, rel=1e-12)
    assert noam(16_000, span) == pytest.approx(noam(4000, span) / 2, rel=1e-12)
    assert max(range(1, 20_000), key=lambda step: noam(step, span)) == 4000


HAND = [
    ("inverse_sqrt", {}, {1: 0.25, 2: 0.5, 4: 1.0, 16: 0.5}),
    ("linear", {}, {1: 0.25, 4: 1.0, 5: 1.0, 6: 5 / 6, 10: 1 / 6}),
    ("linear", {"floor": 0.4}, {4: 1.0, 5: 1.0, 6: 0.9, 10: 0.5}),
    ("cosine", {}, {2: 0.5, 4: 1.0, 5: 1.0, 8: 0.5, 10: (1 + math.cos(5 / 6 * math.pi)) / 2}),
    ("cosine", {"floor": 0.1}, {8: 0.55}),
    ("one_cycle", {"start": 4.0, "final": 10.0}, {1: 0.25, 4: 1.0, 7: (1 + 1 / 40) / 2, 10: 1 / 40}),
    ("cyclic", {"low": 0.2}, {1: 0.2, 3: 0.6, 5: 1.0, 7: 0.6, 9: 0.2, 13: 1.0}),
    ("cyclic", {"low": 0.2, "mode": "triangular2"}, {5: 1.0, 9: 0.2, 13: 0.6, 21: 0.4}),
    ("constant", {}, {1: 0.25, 4: 1.0, 5: 1.0, 100: 1.0}),
]


@pytest.mark.parametrize(("kind", "options", "expected"), HAND)
def test_schedules_by_hand(kind: str, options: dict[str, Any], expected: dict[int, float]) -> None:
    """Warm-up 4, 10 steps."""
    for step, factor in expected.items():
        assert SCHEDULES[kind](step, Span(4, 10, 16), **options) == pytest.approx(factor, rel=1e-12), step


def torchs(make: Callable[[torch.optim.Optimizer], Any], steps: int) -> list[float]:
    """The learning rate that torch would use in each step, from a peak of 1."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0, momentum=0.9)
    scheduler = make(optimizer)
    rates = []
    for _ in range(steps):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the last call asks for a step beyond the end
            if len(rates) < steps:
                scheduler.step()
    return rates


PARITY: dict[str, tuple[Span, dict[str, Any], Callable[[Any], Any]]] = {
    "cosine": (Span(0, 50, 16), {"floor": 0.1}, lambda o: lr_scheduler.CosineAnnealingLR(o, 50, eta_min=0.1)),
    "linear": (Span(0, 50, 16), {}, lambda o: lr_scheduler.PolynomialLR(o, 50)),
    "one_cycle": (Span(15, 50, 16), {}, lambda o: lr_scheduler.OneCycleLR(o, 1.0, total_steps=50, pct_start=0.3)),
    "cyclic": (
        Span(7, 50, 16),
        {"low": 0.1, "mode": "triangular2"},
        lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, step_size_up=7, mode="triangular2"),
    ),
    "constant": (Span(8, 50, 16), {}, lambda o: lr_scheduler.LinearLR(o, 1 / 8, 1.0, total_iters=7)),
}


@pytest.mark.parametrize("kind", PARITY)
def test_schedules_are_torchs(kind: str) -> None:
    span, options, make = PARITY[kind]
    ours = [SCHEDULES[kind](step, span, **options) for step in range(1, span.steps + 1)]
    assert ours == pytest.approx(torchs(make, span.steps), rel=1e-9)


@pytest.mark.parametrize("kind", SCHEDULES)
@pytest.mark.parametrize(("warmup", "steps"), [(0, 1), (1, 1), (0, 10), (20, 10), (10, 10), (4, 10)])
def test_every_schedule_is_sane_at_its_edges(kind: str, warmup: int, steps: int) -> None:
    rates = [SCHEDULES[kind](step, Span(warmup, steps, 16)) for step in range(1, 3 * steps + 5)]
    assert all(0.0 <= rate <= 1.0 for rate in rates)
    assert all(rate > 0.0 for rate in rates[:steps])


@pytest.mark.parametrize("kind", SCHEDULES)
def test_every_schedule_warms_up(kind: str) -> None:
    rates = [SCHEDULES[kind](step, Span(10, 100, 16)) for step in range(1, 11)]
    assert rates == sorted(rates) and rates[0] < rates[-1] / 2


def test_the_learning_rate_of_a_recipe() -> None:
    paper = TrainConfig()
    assert learning_rate(4000, paper, 512) == pytest.approx((512 * 4000) ** -0.5)
    twice = TrainConfig(schedule=Choice("noam", {"factor": 2.0}))
    assert learning_rate(7, twice, 512) == pytest.approx(2 * learning_rate(7, paper, 512))
    floored = TrainConfig(schedule=Choice("cosine", {"floor": 0.5}), steps=10, warmup=0, learning_rate=0.1)
    assert learning_rate(1000, floored, 512) == pytest.approx(0.05)


def said(**keys: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        heed(TrainConfig(**keys), 512)
    return [str(each.message) for each in found]


def test_a_learning_rate_beside_eq_3_is_said_not_multiplied() -> None:
    assert learning_rate(100, TrainConfig(learning_rate=0.003), 512) == learning_rate(100, TrainConfig(), 512)
    (line,) = said(learning_rate=0.003)
    assert line.startswith("learning_rate=0.003 is not used: schedule='noam' is Eq. (3)") and "highest 6.99e-04" in line


@pytest.mark.parametrize("kind", [kind for kind in SCHEDULES if kind != "cyclic"])
def test_a_warm_up_beyond_the_end_is_said(kind: str) -> None:
    (line,) = said(schedule=Choice(kind), warmup=101, steps=100)
    assert line.startswith("warmup=101 is more than steps=100: the learning rate only reaches ")
    assert said(schedule=Choice(kind), warmup=100, steps=100) == []


def test_a_rate_that_moves_nothing_is_said() -> None:
    (line,) = said(schedule=Choice("linear"), learning_rate=1e-6, warmup=10, steps=100)
    assert "never rises above 1.00e-06 with schedule='linear'" in line
    (line,) = said(schedule=Choice("cyclic", {"mode": "triangular2", "low": 0.0}), warmup=2, steps=1000)
    assert "falls below a thousandth of its highest" in line


@pytest.mark.parametrize("kind", SCHEDULES)
def test_an_ordinary_recipe_says_nothing(kind: str) -> None:
    assert said(schedule=Choice(kind), warmup=400, steps=10_000) == []


@pytest.mark.parametrize("name", recipes())
def test_no_recipe_of_the_package_needs_a_word(name: str) -> None:
    config = open_recipe(name)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        heed(config.train, config.model.d_model)
    assert [str(each.message) for each in found] == []
