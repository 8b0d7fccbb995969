from __future__ import annotations

import pytest

from glassformer.bench import growth
from glassformer.bench.growth import MOST, run, table


@pytest.mark.slow
def test_every_command_is_measured_at_every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "VOCABULARY", {1000: 2000})
    monkeypatch.setenv(MOST, "1000")
    found = run((1000, 2000))
    assert [row["pairs"] for row in found["rows"]] == [1000]
    for row in found["rows"]:
        assert row["read"] > 1000 * 200 and row["stored"] == 0  # small files are not stored
        for what in growth.WHAT:
            assert 0 < row[what]["busy"] < row[what]["seconds"] * 8 and row[what]["anonymous"] > 1 << 20
        assert 0 < row["start"]["seen_after"] <= row["start"]["seconds"]


def test_the_table_has_seconds_and_memory_of_each_command() -> None:
    one = {"seconds": 12.3, "busy": 20.2, "seen_after": 4.5, "anonymous": 678_900_000}
    numbers = {"rows": [{"pairs": 4_500_000, "prepare": one, "start": one, "evaluate": one}]}
    titles, row = table(numbers, "en")
    assert titles == ["pairs", "data prepare", "of all cores", "memory", *titles[4:]]
    assert row == ["4,500,000", *("12 s", "20 s", "679 MB"), *("4 s", "20 s", "679 MB"), *("12 s", "20 s", "679 MB")]
    assert table(numbers, "ko")[0][0] == "문장 쌍"
