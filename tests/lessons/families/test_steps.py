from __future__ import annotations

from itertools import pairwise
from math import log

import pytest
import torch
from torch import nn

from glassformer.lessons.families.steps import D_MODEL, _compared, chains, longest, parts, times, unrolled
from glassformer.lessons.setup import LessonSetup


def test_a_chain_is_as_long_as_it_is() -> None:
    x = torch.ones(1, requires_grad=True)
    one = longest(x * 2)
    assert longest(((x * 2) + 1).exp()) == one + 2
    assert longest((x * 2) + (x * 3).exp()) == one + 2


def test_attention_waits_for_nothing_and_a_recurrence_for_every_token() -> None:
    rows = chains()
    assert len({row["attention"] for row in rows}) == 1
    steps = {(b["lstm"] - a["lstm"]) / (b["length"] - a["length"]) for a, b in pairwise(rows)}
    assert len(steps) == 1 and steps.pop() >= 1


def test_the_cell_step_by_step_is_torchs_lstm() -> None:
    _, lstm = parts()
    cell = nn.LSTMCell(D_MODEL, lstm.hidden_size)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in lstm.state_dict().items()})
    x = torch.randn(2, 5, D_MODEL)
    torch.testing.assert_close(unrolled(cell, x), lstm(x)[0][:, -1])


def test_times_have_a_ratio() -> None:
    assert [row["length"] for row in times(LessonSetup(effort=0.01))] == [16, 32]
    found = _compared(8, [1.0, 2.0, 10.0], [2.0, 6.0, 20.0])
    faster = found.pop("faster")
    assert found == {"length": 8, "attention": 2.0, "lstm": 6.0, "ratio": 2.0}
    assert faster["mean"] == pytest.approx(log(2 * 3 * 2) / 3) and faster["low"] < faster["mean"] < faster["high"]
