from __future__ import annotations

from glassformer.bench.timing import interleaved, summary


def test_candidates_take_turns() -> None:
    calls: list[str] = []
    seconds = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=3, warm_up=1)
    assert calls == ["a", "b", "a", "b", "a", "b", "a", "b"]
    assert {name: len(times) for name, times in seconds.items()} == {"a": 3, "b": 3}


def test_summary_is_median_and_quartiles() -> None:
    assert summary([1.0, 2.0, 3.0, 4.0, 100.0]) == {"median": 3.0, "low": 1.5, "high": 52.0}
