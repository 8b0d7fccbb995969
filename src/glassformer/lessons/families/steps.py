"""How many operations wait for one another, and how long they take: attention and an LSTM against length."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.layers.attention.multi_head import MultiHeadAttention
from glassformer.lessons.families.clock import in_turn
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval

D_MODEL, N_HEADS = 64, 4
COUNTED = (8, 16, 32, 64)
CLOCKED = (16, 32, 64, 128, 256, 512, 1024)
BATCH = 8
ROUNDS = 21


def parts() -> tuple[MultiHeadAttention, nn.LSTM]:
    """An attention and an LSTM of equal size: 4·d² weights (Q, K, V, O), and 4·h·(d + h) with hidden size h."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        attention = MultiHeadAttention(d_model=D_MODEL, n_heads=N_HEADS, kernel="reference")
        hidden = min(range(4, 128), key=lambda h: abs(4 * h * (D_MODEL + h) - 4 * D_MODEL * D_MODEL))
        return attention, nn.LSTM(D_MODEL, hidden, batch_first=True)


def chains() -> list[dict[str, int]]:
    """The longest chain of dependent operations in autograd's graph, by length."""
    attention, lstm = parts()
    cell = nn.LSTMCell(D_MODEL, lstm.hidden_size)
    rows = []
    for length in COUNTED:
        x = torch.zeros(1, length, D_MODEL, requires_grad=True)
        rows.append({"length": length, "attention": longest(attend(attention, x)), "lstm": longest(unrolled(cell, x))})
    return rows


def attend(attention: MultiHeadAttention, x: Tensor) -> Tensor:
    y: Tensor = attention(x, x, x)
    return y


def unrolled(cell: nn.LSTMCell, x: Tensor) -> Tensor:
    """h_t from h_{t−1}, step by step: what torch's LSTM does inside."""
    state = None
    for t in range(x.shape[1]):
        state = cell(x[:, t], state)
    assert state is not None
    return state[0]


def longest(y: Tensor) -> int:
    """The depth of a graph, without recursion: a node is counted once all its inputs are."""
    depth: dict[Any, int] = {}
    waiting: list[Any] = [y.grad_fn]
    while waiting:
        node = waiting[-1]
        needed = [before for before, _ in node.next_functions if before is not None]
        missing = [before for before in needed if before not in depth]
        if missing:
            waiting += missing
            continue
        depth[node] = 1 + max((depth[before] for before in needed), default=0)
        waiting.pop()
    return depth[y.grad_fn]


def times(setup: LessonSetup) -> list[dict[str, Any]]:
    """Milliseconds of one forward pass of each, one thread: medians of interleaved rounds.

    The ratio is the median of the ratios within a round; `faster` is the interval of its logarithm over the rounds.
    """
    attention, lstm = parts()
    fused = MultiHeadAttention(d_model=D_MODEL, n_heads=N_HEADS)
    fused.load_state_dict(attention.state_dict())
    lengths = [n for n in CLOCKED if n <= setup.some(CLOCKED[-1], 32)]
    works: dict[tuple[str, int], Callable[[], None]] = {}
    for length in lengths:
        x = torch.randn(BATCH, length, D_MODEL, generator=torch.Generator().manual_seed(length))
        works["attention", length] = partial(_attend, fused, x)
        works["lstm", length] = partial(_read, lstm, x)
    found = in_turn(works, setup.some(ROUNDS, 2))
    return [_compared(n, found["attention", n], found["lstm", n]) for n in lengths]


def _compared(length: int, attention: list[float], lstm: list[float]) -> dict[str, Any]:
    ratios = [slow / fast for slow, fast in zip(lstm, attention, strict=True)]
    faster = interval([log(ratio) for ratio in ratios])
    del faster["values"]
    times = {"attention": median(attention), "lstm": median(lstm)}
    return {"length": length, **times, "ratio": median(ratios), "faster": faster}


@torch.no_grad()
def _attend(attention: MultiHeadAttention, x: Tensor) -> None:
    attention(x, x, x)


@torch.no_grad()
def _read(lstm: nn.LSTM, x: Tensor) -> None:
    lstm(x)
