"""Amounts as people write them: 300B tokens, 1.5T, 20M, 3e9."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation

from glassformer.errors import ConfigError, shown

UNITS = {"": 0, "K": 3, "M": 6, "B": 9, "T": 12}  # powers of ten
LARGEST = 10**18
_AMOUNT = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]{1,3})?\s*([kmbt]?)", re.IGNORECASE | re.ASCII)


def amount(key: str, value: object) -> int:
    """The whole number that is meant, at least 1; raises for anything else."""
    number: int | None = None
    match value:
        case bool():
            pass
        case int():
            number = value
        case float() if math.isfinite(value):
            number = round(value)
        case str():
            number = _read(value)
    if number is None or not 1 <= number <= LARGEST:
        raise ConfigError("plan_amount", key=key, value=value if isinstance(value, str) else shown(value))
    return number


def _read(text: str) -> int | None:
    found = _AMOUNT.fullmatch(text.strip()) if len(text) < 64 else None
    if found is None:
        return None
    digits, exponent, unit = found.groups()
    try:
        number = Decimal(digits.replace(",", "").replace("_", "") + (exponent or ""))
    except InvalidOperation:
        return None
    if number > LARGEST:
        return None
    return round(number * 10 ** UNITS[unit.upper()])


def short_amount(number: float) -> str:
    """300B, 8.03B, 124M: three digits and a unit."""
    for unit, power in reversed(UNITS.items()):
        if number >= 10**power and power:
            return (
                f"{number / 10**power:.3g}{unit}" if number < 1000 * 10**power else f"{number / 10**power:,.0f}{unit}"
            )
    return f"{number:.3g}"
