from __future__ import annotations

import pytest

from glassformer.bench.startup import table


@pytest.mark.parametrize(
    ("lang", "texts"),
    [
        (
            "en",
            ["what", "glassformer --help ÷ empty typer program --help", "count m (1,234), after imports"],
        ),
        (
            "ko",
            ["항목", "glassformer --help ÷ 빈 typer 프로그램의 --help", "m 세기(파라미터 1,234개), 불러오기가 끝난 뒤"],
        ),
    ],
)
def test_the_table_gives_ratios(lang: str, texts: list[str]) -> None:
    times = {"median": 0.2, "low": 0.1, "high": 0.3}
    numbers = {
        "help": {"glassformer": times, "typer": {"median": 0.1, "low": 0.1, "high": 0.1}},
        "count": {"model": "m", "parameters": 1234, "seconds": {"median": 0.004, "low": 0.003, "high": 0.005}},
    }
    rows = table(numbers, lang)
    assert [row[0] for row in rows] == texts
    assert [row[1] for row in rows[1:]] == ["2.00", "4.0 ms"]
