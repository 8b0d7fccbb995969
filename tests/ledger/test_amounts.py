from __future__ import annotations

from typing import Any

import pytest

from glassformer.errors import ConfigError
from glassformer.ledger.amounts import amount, short_amount


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("300B", 300 * 10**9),
        ("1.5T", 15 * 10**11),
        ("20M", 20 * 10**6),
        ("20 m", 20 * 10**6),
        ("3e9", 3 * 10**9),
        ("2.5e-3B", 2_500_000),
        (".5k", 500),
        ("1,000", 1000),
        ("1_000", 1000),
        (7, 7),
        (3e9, 3 * 10**9),
    ],
)
def test_amounts_as_people_write_them(given: Any, meant: int) -> None:
    assert amount("tokens", given) == meant


@pytest.mark.parametrize(
    "given", ["", "B", "300X", "-3", "0", "0.1", "nan", "inf", "1e99", "1e999", "9" * 70, "٣", "1 2", True, None, [1]]
)
def test_what_is_no_amount_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"is not an amount; write 300B, 1\.5T, 20M or 3e9") as caught:
        amount("tokens", given)
    assert "양이 아닙니다" in caught.value.in_language("ko")


def test_short_names_of_numbers() -> None:
    assert [short_amount(number) for number in (7, 1024, 124_439_808, 8_030_261_248, 3e11, 1.5e13, 4e15)] == [
        "7",
        "1.02K",
        "124M",
        "8.03B",
        "300B",
        "15T",
        "4,000T",
    ]
