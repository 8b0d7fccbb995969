from __future__ import annotations

import math

import torch

from glassformer.training.meter import Meter, MeterReading

CPU = torch.device("cpu")


def add(meter: Meter, total: float, count: int, norm: float, *, bad: bool = False) -> None:
    meter.add(torch.tensor(total), count, torch.tensor(norm), torch.tensor(bad))


def test_sums_since_the_last_line() -> None:
    meter = Meter(CPU)
    add(meter, 6.0, 2, 1.0)
    add(meter, 3.0, 4, 3.0)
    reading = meter.read()
    assert reading == MeterReading(total=9.0, count=6.0, norm=4.0, steps=2.0, skipped=0.0, in_a_row=0.0)
    assert (reading.loss, reading.gradient_norm) == (1.5, 2.0)
    meter.begin_line()
    assert math.isnan(meter.read().loss) and math.isnan(meter.read().gradient_norm)


def test_a_skipped_step_adds_to_nothing_but_the_skipped() -> None:
    meter = Meter(CPU)
    add(meter, 6.0, 2, 1.0)
    add(meter, float("nan"), 2, float("inf"), bad=True)
    add(meter, float("inf"), 2, float("nan"), bad=True)
    assert meter.read() == MeterReading(total=6.0, count=2.0, norm=1.0, steps=1.0, skipped=2.0, in_a_row=2.0)
    meter.begin_line()
    add(meter, 1.0, 1, 1.0)
    assert meter.read() == MeterReading(total=1.0, count=1.0, norm=1.0, steps=1.0, skipped=2.0, in_a_row=0.0)


def test_it_comes_back_bit_for_bit() -> None:
    meter, again = Meter(CPU), Meter(CPU)
    add(meter, 0.1, 3, 0.7)
    add(meter, 0.2, 3, 0.7, bad=True)
    again.load(list(vars(meter.read()).values()))
    for one in (meter, again):
        add(one, 0.3, 5, 0.9)
    assert again.read() == meter.read()
