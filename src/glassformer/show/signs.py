"""The sign of a number below nought, as it is printed: −3.0, not -3.0. JSON and what one types keep the hyphen."""

from __future__ import annotations

import re

_HYPHEN = re.compile(r"(?<![\w.)\-])-(?=[\d.])")  # before a number that begins there: not in ko-en, 2024-01-02


def minus(text: str) -> str:
    """-3.0 % → −3.0 %."""
    return _HYPHEN.sub("−", text)
