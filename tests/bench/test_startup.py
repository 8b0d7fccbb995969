from __future__ import annotations

from glassformer.bench.startup import table


def test_the_table_gives_ratios() -> None:
    times = {"median": 0.2, "low": 0.1, "high": 0.3}
    numbers = {
        "help": {"glassformer": times, "typer": {"median": 0.1, "low": 0.1, "high": 0.1}},
        "count": {"model": "m", "parameters": 1234, "seconds": {"median": 0.004, "low": 0.003, "high": 0.005}},
    }
    assert [row[1] for row in table(numbers)[1:]] == ["2.00", "4.0 ms"]
