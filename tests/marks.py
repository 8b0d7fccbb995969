"""Which values of a parameter `make test-fast` tries, where all of them together take too long for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_is_fast(values: Iterable[Any], fast: int = 1) -> list[Any]:
    """All values for `make test`; those after the first are marked slow."""
    return [value if i < fast else pytest.param(value, marks=pytest.mark.slow) for i, value in enumerate(values)]
