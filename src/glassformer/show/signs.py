"""Numbers as printed: −3.0, not -3.0; 1×10⁻⁵, not 1e-05. JSON and commands keep the hyphen."""

from __future__ import annotations

import re
from typing import Any

_HYPHEN = re.compile(r"(?<![\w.)\-])-(?=[\d.])")  # before the start of a number: not in ko-en, 2024-01-02

_POWER = re.compile(r"(?<=\d)e([+-])0*(\d+)(?!\w)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def minus(text: str) -> str:
    """-3.0 % → −3.0 %."""
    return _HYPHEN.sub("−", text)


def format_value(value: Any, form: str) -> str:
    """A value in a format of the texts; a dash if it was not finite."""
    if value is None:
        return "–"
    return typeset(format(value, form) if form else str(value))


def typeset(text: str) -> str:
    """-1e-05 → −1×10⁻⁵."""
    return minus(_POWER.sub(_power, text))


def _power(found: re.Match[str]) -> str:
    """1e-05 → 1×10⁻⁵."""
    return "×10" + found[1].lstrip("+").translate(_RAISED) + found[2].translate(_RAISED)
