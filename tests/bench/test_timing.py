from __future__ import annotations

import os
from functools import partial

import pytest
import torch

from glassformer.bench import timing
from glassformer.bench.timing import alone, ceiling, interleaved, summary, warmed


def test_candidates_take_turns() -> None:
    calls: list[str] = []
    seconds = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=3, warm_up=1)
    assert calls == ["a", "b", "a", "b", "a", "b", "a", "b"]
    assert {name: len(times) for name, times in seconds.items()} == {"a": 3, "b": 3}


def test_a_turn_of_several_calls_is_divided_by_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wait takes a second and each call two: (2 · 2 + 1) / 2 for a call, and no wait between the two of a turn."""
    now, happened = [0.0], list[str]()

    def takes(seconds: float, what: str) -> None:
        now[0] += seconds
        happened.append(what)

    monkeypatch.setattr(timing, "_wait", lambda device: takes(1.0, "wait"))
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])
    candidates = {name: partial(takes, 2.0, name) for name in "ab"}
    seconds = interleaved(candidates, rounds=2, calls=2, warm_up=0)
    assert seconds == {"a": [2.5, 2.5], "b": [2.5, 2.5]}
    assert happened == ["wait", "a", "a", "wait", "wait", "b", "b", "wait"] * 2


def test_a_candidate_is_made_and_called_before_it_is_timed() -> None:
    calls: list[str] = []

    def make() -> object:
        calls.append("made")
        return lambda: calls.append("called")

    _, peak = warmed(make, calls=2, device="cpu")  # type: ignore[arg-type]
    assert (calls, peak) == (["made", "called", "called"], None)


def test_the_ceiling_is_that_of_a_product_here() -> None:
    assert 1e8 < ceiling("cpu") < 1e14


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_the_peak_is_what_a_candidate_adds() -> None:
    kept = torch.zeros(2**20, device="cuda")
    _, peak = warmed(lambda: lambda: torch.zeros(2**22, device="cuda"), calls=1, device="cuda")
    assert peak == 2**24 and kept.is_cuda


def test_summary_is_median_and_quartiles() -> None:
    assert summary([1.0, 2.0, 3.0, 4.0, 100.0]) == {"median": 3.0, "low": 1.5, "high": 52.0}


def test_a_process_of_its_own() -> None:
    assert alone(os.getpid) != os.getpid()
    assert alone(max, 2, 3) == 3
    with pytest.raises(ValueError, match="invalid literal"):
        alone(int, "no number")
